"""An artifact is a link, or lies behind one.

## Why this matters

A link can lead to another file at any time. An artifact may therefore be no link at any level of trust. In checkpoints
that are not local, no folder on the way to an artifact may be one either.

## How to fix

Put the file itself in the place of the link.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule


@rule(since="0.1", origin=("stage-protocol:artifact-symlink", "stage-protocol:parent-symlink"))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("linked-artifact"):
        message = f"the artifact {quote(fault.facts['path'])} is a link"
        if fault.reason == "folder":
            way = f"the folder {quote(fault.facts['link'])} on the way to {quote(fault.facts['path'])} is a link"
            message = f"{way}, which a checkpoint that is {checkpoint.trust.value} may not have"
        yield Finding(place_of(checkpoint, fault), message)
