"""A file is not the one that a checkpoint vouches for.

## Why this matters

The file has changed since the checkpoint was written, or was cut off. A run that resumes from the checkpoint would go
on with other data than the stage has left.

## How to fix

Restore the file, or run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import place_of, rule


@rule(since="0.1", origin=("stage-protocol:artifact-size", "stage-protocol:artifact-hash"))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("changed-artifact"):
        found, expected = fault.facts["found"], fault.facts["expected"]
        change = f"has {found:,} bytes, not {expected:,}" if fault.reason == "size" else "has other content"
        yield Finding(place_of(checkpoint, fault), f"the artifact {quote(fault.facts['path'])} {change}")
