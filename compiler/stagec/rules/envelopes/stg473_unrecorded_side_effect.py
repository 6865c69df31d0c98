"""A stage that must not run twice leaves no checkpoint.

## Why this matters
Without a checkpoint nothing records that the stage is completed. When the run is resumed after a later crash, whether
its side effect has happened cannot be told.

## How to fix
Say `checkpointAfter: true`. The protocol's own example of such a stage does not, and has this fault.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:non-retryable-without-checkpoint",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        if not stage.retryable and not stage.checkpoint_after:
            message = (
                f"stage {quote(stage.name)} is not retryable, but leaves no checkpoint that records its completion"
            )
            yield Finding(stage.at / "checkpointAfter", message)
