"""A checkpoint does not come from this project.

## Why this matters

Its digests show that its files are those that its author has put in. They do not show who the author is, and what the
files do to the stage that reads them: a pickled model, for example, can run a program when it is loaded.

## How to fix

Resume from it only if you know where it comes from. stagec itself never executes anything that a checkpoint holds.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.protocol.manifest import TrustLevel
from stagec.rules.checkpoints import rule


@rule(since="0.1", origin=("stage-protocol:trust-warning",), severity=Severity.WARNING)
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    if checkpoint.is_valid and checkpoint.trust is not TrustLevel.LOCAL:
        words = f"the checkpoint is {checkpoint.trust.value}; find out where it comes from before a run resumes from it"
        yield Finding(Place(checkpoint.file), words)
