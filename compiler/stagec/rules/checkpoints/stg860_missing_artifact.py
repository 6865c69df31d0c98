"""A file that a checkpoint vouches for does not exist.

## Why this matters

A run that resumes from the checkpoint would read nothing. It is not valid, and the stage runs again.

## How to fix

Restore the file, or run the stage again.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule


@rule(since="0.1", origin=("stage-protocol:artifact-missing",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(checkpoint, "missing-artifact", "the artifact {path} does not exist")
