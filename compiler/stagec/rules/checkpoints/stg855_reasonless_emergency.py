"""A checkpoint of a stage that was interrupted does not say why.

## Why this matters

The reason tells whether the stage ran out of time, was stopped or failed, and so whether running it again helps.

## How to fix

Add `reason` where the manifest is made: `timeout`, `abort` or `error`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule


@rule(since="0.1", origin=("stage-protocol:manifest-schema",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(checkpoint, "reasonless-emergency", "a checkpoint with the status {status} must have a 'reason'")
