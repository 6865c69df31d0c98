"""More than four minutes of work lie between two checkpoints.

## Why this matters
A crash loses what was done since the last checkpoint. This stage leaves none, so the stages that need it add to the
loss.

## How to fix
Say `checkpointAfter: true`, or split the stages so that less lies between two checkpoints.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.order import measure_losses
from stagec.protocol.watchdog import LAST_OF_TIER, Tier
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:checkpoint-gap",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, lost in measure_losses(plan):
        if lost > LAST_OF_TIER[Tier.STANDARD]:
            message = f"without a checkpoint after stage {quote(stage.name)}, a crash can lose {lost:g} s of work"
            yield Finding(stage.at / "checkpointAfter", message)
