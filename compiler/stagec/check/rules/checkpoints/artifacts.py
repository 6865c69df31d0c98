"""Artifacts that a checkpoint lists."""

from collections.abc import Iterator

from stagec.check.rules.checkpoints import name_member, place_of, report, rule
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.ir.protocol.checkpoint import JudgedCheckpoint


@rule(since="0.1", origin=("stage-protocol:manifest-duplicate-artifact",))
def stg858_repeated_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest names a file twice.

    ## Why this matters

    One file cannot be two artifacts; if the digests differ, one of them is wrong.

    ## How to fix

    Name each file once where the manifest is made.
    """
    for fault in checkpoint.about("repeated-artifact"):
        first = Place(checkpoint.file, ("artifacts", int(str(fault.facts["first"])), "relativePath"))
        message = f"the artifact {quote(fault.facts['path'])} is named twice"
        yield Finding(place_of(checkpoint, fault), message, (Related(first, "first here"),))


_ORIGIN = ("stage-protocol:manifest-unsafe-path", "stage-protocol:artifact-path")


@rule(since="0.1", origin=_ORIGIN)
def stg859_unsafe_artifact_path(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest holds a path or a name that may lead out of its folder.

    ## Why this matters

    Whoever made the checkpoint chose the path. `../`, absolute paths and names of devices reach files that are none of
    the run's, so nothing at such a path is opened, at any level of trust.

    ## How to fix

    Do not use the checkpoint unless you know who has made it, and why. Run the stage again.
    """
    for fault in checkpoint.about("unsafe-artifact-path"):
        subject = "the path of an artifact" if fault.reason == "path" else name_member(fault.pointer)
        message = f"{subject}, {quote(fault.facts['path'])}, {fault.facts['words']}"
        yield Finding(place_of(checkpoint, fault), message)


@rule(since="0.1", origin=("stage-protocol:artifact-missing",))
def stg860_missing_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A file that a checkpoint vouches for does not exist.

    ## Why this matters

    A run that resumes from the checkpoint would read nothing. It is not valid, and the stage runs again.

    ## How to fix

    Restore the file, or run the stage again.
    """
    yield from report(checkpoint, "missing-artifact", "the artifact {path} does not exist")


@rule(since="0.1", origin=("stage-protocol:artifact-size", "stage-protocol:artifact-hash"))
def stg861_changed_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A file is not the one that a checkpoint vouches for.

    ## Why this matters

    The file has changed since the checkpoint was written, or was cut off. A run that resumes from the checkpoint would
    go on with other data than the stage has left.

    ## How to fix

    Restore the file, or run the stage again.
    """
    for fault in checkpoint.about("changed-artifact"):
        found, expected = fault.facts["found"], fault.facts["expected"]
        change = f"has {found:,} bytes, not {expected:,}" if fault.reason == "size" else "has other content"
        yield Finding(place_of(checkpoint, fault), f"the artifact {quote(fault.facts['path'])} {change}")


@rule(since="0.1", origin=("stage-protocol:artifact-symlink", "stage-protocol:parent-symlink"))
def stg862_linked_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """An artifact is a link, or lies behind one.

    ## Why this matters

    A link can lead to another file at any time. An artifact may therefore be no link at any level of trust. In
    checkpoints that are not local, no folder on the way to an artifact may be one either.

    ## How to fix

    Put the file itself in the place of the link.
    """
    for fault in checkpoint.about("linked-artifact"):
        message = f"the artifact {quote(fault.facts['path'])} is a link"
        if fault.reason == "folder":
            way = f"the folder {quote(fault.facts['link'])} on the way to {quote(fault.facts['path'])} is a link"
            message = f"{way}, which a checkpoint that is {checkpoint.trust.value} may not have"
        yield Finding(place_of(checkpoint, fault), message)


_SENTENCE = "the artifact {path} is reached through a link that leads out, to {target}"


@rule(since="0.1", origin=("stage-protocol:artifact-containment",))
def stg863_escaping_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A link leads from the path of an artifact out of the folder that it must stay in.

    ## Why this matters

    The path looks as if it stayed inside, and the file that it leads to is none of the run's. It is not opened.

    ## How to fix

    Move the folder back to where the link is.
    """
    yield from report(checkpoint, "escaping-artifact", _SENTENCE)


_WORDS = {"folder": "is a folder", "special": "is no regular file"}


@rule(since="0.1", origin=("stage-protocol:artifact-regular",))
def stg864_irregular_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """What lies at the path of an artifact is no regular file, or cannot be opened.

    ## Why this matters

    Only files have content that a digest can vouch for. Opening a pipe or a device may do something by itself.

    ## How to fix

    Restore the file, or run the stage again.
    """
    for fault in checkpoint.about("irregular-artifact"):
        words = _WORDS.get(fault.reason) or f"cannot be opened: {fault.facts['error']}"
        yield Finding(place_of(checkpoint, fault), f"the artifact {quote(fault.facts['path'])} {words}")
