"""A run has results of the stage already that a checkpoint is to be brought in for.

## Why this matters

Two checkpoints of one stage in one run contradict each other. stagec overwrites neither the results nor the record of
them; the protocol's reference implementation does so without a word.

## How to fix

Bring the checkpoint into another run. If the results that are there are not wanted, remove them first.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule

_SENTENCE = "the run has results of {stage} already: {taken}"


@rule(since="0.1", origin=("stage-protocol:checkpoint-overwrite",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(checkpoint, "occupied-checkpoint", _SENTENCE)
