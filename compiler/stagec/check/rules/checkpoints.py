"""STG850 to STG899: checkpoints of stages: their manifests, and the artifacts that these vouch for."""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Key, Place, Pointer, spell_path
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.ir.protocol.checkpoint import CheckpointFault, JudgedCheckpoint, TrustLevel

FAMILY = Family(__name__, (range(850, 900),), JudgedCheckpoint)
rule = FAMILY.rule


def place_of(checkpoint: JudgedCheckpoint, fault: CheckpointFault) -> Place:
    """Return the place of a fault in its manifest."""
    return Place(checkpoint.file, fault.pointer)


def name_member(pointer: tuple[Key, ...]) -> str:
    """Return the name of a member of a manifest for people: `'artifacts[0].sha256'`."""
    if not pointer:
        return "the manifest"
    return quote(spell_path(pointer))


def report(checkpoint: JudgedCheckpoint, topic: str, sentence: str) -> Iterator[Finding]:
    """Say a sentence of every fault with a topic; it is filled with the facts, and texts among them are quoted."""
    for fault in checkpoint.about(topic):
        facts = {name: quote(given) if isinstance(given, str) else given for name, given in fault.facts.items()}
        yield Finding(place_of(checkpoint, fault), sentence.format(**facts))


_UNREADABLE_CHECKPOINT_SENTENCES = {
    "json": "the manifest is not JSON: {error}",
    "link": "the manifest is a link, and links are not followed",
    "oversized": "the manifest has more than {limit:,} bytes",
    "special": "the manifest is not a regular file",
    "system": "the manifest cannot be read: {error}",
}


@rule(since="0.1", origin=("stage-protocol:manifest-load",))
def stg850_unreadable_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest of a checkpoint cannot be read.

    ## Why this matters

    Without its manifest nobody knows what a checkpoint vouches for, so no run resumes from it. Links are not followed:
    somebody may have put one there so that another file is taken for the manifest.

    ## How to fix

    Name the manifest itself. If it is damaged, run the stage again; the run then writes a new checkpoint.
    """
    for fault in checkpoint.about("unreadable-checkpoint"):
        facts = {name: quote(given) if isinstance(given, str) else given for name, given in fault.facts.items()}
        yield Finding(place_of(checkpoint, fault), _UNREADABLE_CHECKPOINT_SENTENCES[fault.reason].format(**facts))


@rule(since="0.1", origin=("stagec:checkpoints",))
def stg851_unknown_checkpoint_form(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest has a form that this version of stagec does not know.

    ## Why this matters

    A later version of the form may mean something else by the same members. Nothing else in the manifest is judged.

    ## How to fix

    Use the version of stagec that has written the checkpoint, or a later one.
    """
    yield from report(
        checkpoint, "unknown-checkpoint-form", "the form is {found}; this version of stagec reads {known}"
    )


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def stg852_incomplete_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest lacks members that every checkpoint has.

    ## Why this matters

    A manifest is written whole. One that lacks a member was damaged, or was not written by a program that knows the
    form; the protocol's reference implementation silently skips it, so the work of the stage is lost.

    ## How to fix

    Do not complete it by hand. Run the stage again; the run then writes a new checkpoint.
    """
    lacking: dict[Pointer, list[object]] = {}
    for fault in checkpoint.about("incomplete-checkpoint"):
        lacking.setdefault(fault.pointer[:-1], []).append(fault.pointer[-1])
    for pointer, names in lacking.items():
        yield Finding(Place(checkpoint.file, pointer), f"{name_member(pointer)} has no {listing(names, 'or')}")


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def stg853_mistyped_checkpoint_member(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A member of a manifest has a value of another type.

    ## Why this matters

    Programs that read checkpoints refuse the whole manifest, so the work of the stage is lost.

    ## How to fix

    Do not mend it by hand: the digest of the manifest would no longer fit. Run the stage again.
    """
    for fault in checkpoint.about("mistyped-checkpoint-member"):
        wanted, found = with_article(fault.reason), with_article(str(fault.facts["found"]))
        yield Finding(place_of(checkpoint, fault), f"{name_member(fault.pointer)} must be {wanted}, found {found}")


_MALFORMED_CHECKPOINT_VALUE_SENTENCES = {
    "choice": "must be {choices}, found {found}",
    "digest": "must be 64 hexadecimal digits, found {found}",
    "empty": "must not be empty",
    "instant": "must be a time in UTC such as '2026-01-02T10:30:00Z', found {found}",
    "negative": "must not be negative, found {found}",
    "stage": "must be the id of a stage such as 'S01_load_data', found {found}",
    "whole": "must be a whole number, found {found}",
}


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def stg854_malformed_checkpoint_value(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A member of a manifest has a value that checkpoints cannot have.

    ## Why this matters

    Programs that read checkpoints refuse the whole manifest, so the work of the stage is lost. That is so also for ids
    of stages that other parts of the protocol allow, such as `S02_eda`, in the form of the reference implementation.

    ## How to fix

    Run the stage again with a runner that checks a manifest before it writes it, as stagec does.
    """
    for fault in checkpoint.about("malformed-checkpoint-value"):
        choices = fault.facts.get("choices")
        named = listing(choices, "or") if isinstance(choices, tuple) else ""
        found = fault.facts.get("found")
        shown = quote(found) if isinstance(found, str) else found
        sentence = _MALFORMED_CHECKPOINT_VALUE_SENTENCES[fault.reason].format(choices=named, found=shown)
        yield Finding(place_of(checkpoint, fault), f"{name_member(fault.pointer)} {sentence}")


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def stg855_reasonless_emergency(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A checkpoint of a stage that was interrupted does not say why.

    ## Why this matters

    The reason tells whether the stage ran out of time, was stopped or failed, and so whether running it again helps.

    ## How to fix

    Add `reason` where the manifest is made: `timeout`, `abort` or `error`.
    """
    yield from report(checkpoint, "reasonless-emergency", "a checkpoint with the status {status} must have a 'reason'")


@rule(since="0.1", origin=("stage-protocol:manifest-hash",))
def stg856_changed_manifest(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A manifest has changed since it was written.

    ## Why this matters

    A manifest holds the digest of everything else in it. If that does not fit, a member was changed, added or removed,
    or the file was damaged, and nothing in it can be believed. The digest has no key: it finds accidents, and not
    somebody who computes it again. Files and paths are therefore verified one by one.

    ## How to fix

    Restore the manifest, or remove it and run the stage again.
    """
    for fault in checkpoint.about("changed-manifest"):
        computed = fault.facts["computed"]
        digest = "it has no digest" if computed is None else f"its digest is {quote(computed)}"
        yield Finding(place_of(checkpoint, fault), f"the manifest has changed since it was written: {digest}")


_OWN = "{run}/checkpoints/{checkpointId}.json"
_FOREIGN = "reports/{reportTitle}/checkpoints/{runId}/{checkpointId}/checkpoint.json"


@rule(since="0.1", origin=("stage-protocol:manifest-id-mismatch",))
def stg857_misplaced_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A checkpoint lies where another one belongs.

    ## Why this matters

    Its ids say that it is of another run, report or stage. A checkpoint that was copied there would make a stage count
    as complete that this run has never executed.

    ## How to fix

    Put it back where it belongs, or bring it in with `stagec checkpoint import`, which verifies it and marks its
    origin.
    """
    for fault in checkpoint.about("misplaced-checkpoint"):
        at = place_of(checkpoint, fault)
        if fault.reason == "layout":
            yield Finding(at, f"such a manifest belongs at {quote(_OWN if fault.facts['native'] else _FOREIGN)}")
            continue
        found, expected = quote(fault.facts["found"]), quote(fault.facts["expected"])
        cause = "its path says" if fault.reason == "path" else "its stage requires"
        yield Finding(at, f"{name_member(fault.pointer)} is {found}, but {cause} {expected}")


_OCCUPIED_CHECKPOINT_SENTENCE = "the run has results of {stage} already: {taken}"


@rule(since="0.1", origin=("stage-protocol:checkpoint-overwrite",))
def stg865_occupied_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A run has results of the stage already that a checkpoint is to be brought in for.

    ## Why this matters

    Two checkpoints of one stage in one run contradict each other. stagec overwrites neither the results nor the record
    of them; the protocol's reference implementation does so without a word.

    ## How to fix

    Bring the checkpoint into another run. If the results that are there are not wanted, remove them first.
    """
    yield from report(checkpoint, "occupied-checkpoint", _OCCUPIED_CHECKPOINT_SENTENCE)


@rule(since="0.1", origin=("stage-protocol:trust-warning",), severity=Severity.WARNING)
def stg866_distrusted_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A checkpoint does not come from this project.

    ## Why this matters
    Its digests show that its files are those that its author has put in. They do not show the author, nor the effect of
    the files on the stage that reads them: a pickled model, for example, can run a program while it is loaded.

    ## How to fix
    Resume from it only if you know where it comes from. stagec itself never executes anything that a checkpoint holds.
    """
    if checkpoint.is_valid and checkpoint.trust is not TrustLevel.LOCAL:
        words = f"the checkpoint is {checkpoint.trust.value}; find out where it comes from before a run resumes from it"
        yield Finding(Place(checkpoint.file), words)


_UNFINISHED_CHECKPOINT_SENTENCE = "only a checkpoint with the status 'saved' can be imported, but this one has {status}"


@rule(since="0.1", origin=("stagec:checkpoints",))
def stg867_unfinished_checkpoint(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """A checkpoint of a stage that was interrupted is to be brought into a run.

    ## Why this matters

    It records what a stage had left when it was interrupted, and never counts as the completion of the stage. In
    another run it would be of no use.

    ## How to fix

    Bring in the checkpoint of a stage that is complete: its `status` is `saved`.
    """
    yield from report(checkpoint, "unfinished-checkpoint", _UNFINISHED_CHECKPOINT_SENTENCE)


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
            message = f"{way}: {checkpoint.trust.value} checkpoints must have no links"
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


_WORDS = {"folder": "is a folder", "special": "is not a regular file"}


@rule(since="0.1", origin=("stage-protocol:artifact-regular",))
def stg864_irregular_artifact(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    """The path of an artifact is no regular file, or cannot be opened.

    ## Why this matters

    Only files have content that a digest can vouch for. Opening a pipe or a device may do something by itself.

    ## How to fix

    Restore the file, or run the stage again.
    """
    for fault in checkpoint.about("irregular-artifact"):
        words = _WORDS.get(fault.reason) or f"cannot be opened: {fault.facts['error']}"
        yield Finding(place_of(checkpoint, fault), f"the artifact {quote(fault.facts['path'])} {words}")
