"""What lies at the path of an artifact is no regular file, or cannot be opened.

## Why this matters

Only files have content that a digest can vouch for. Opening a pipe or a device may do something by itself.

## How to fix

Restore the file, or run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule

_WORDS = {"folder": "is a folder", "special": "is no regular file"}


@rule(since="0.1", origin=("stage-protocol:artifact-regular",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("irregular-artifact"):
        words = _WORDS.get(fault.reason) or f"cannot be opened: {fault.facts['error']}"
        yield Finding(place_of(checkpoint, fault), f"the artifact {quote(fault.facts['path'])} {words}")
