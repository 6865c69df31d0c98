"""A checkpoint of a stage that was interrupted is to be brought into a run.

## Why this matters

It records what a stage had left when it was interrupted, and never counts as the completion of the stage. In another
run it would be of no use.

## How to fix

Bring in the checkpoint of a stage that is complete: its `status` is `saved`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule

_SENTENCE = "only a checkpoint with the status 'saved' can be brought in, and this one has {status}"


@rule(since="0.1", origin=("stagec:checkpoints",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(checkpoint, "unfinished-checkpoint", _SENTENCE)
