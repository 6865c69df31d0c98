"""A stage that seems to have a side effect can be run again after a failure.

## Why this matters
A message that was sent or data that was published cannot be taken back. If the stage fails after that, another
attempt does it once more.

## How to fix
Say `retryable: false`, or give the stage another verb if it has no side effect.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import read_ids
from stagec.protocol.stage_ids import SIDE_EFFECTS
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:side-effect-retryable",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in zip(plan.envelopes, read_ids(plan), strict=True):
        verb = found.verb
        if verb in SIDE_EFFECTS and stage.retryable and stage.members.get("retryable", True) is True:
            at = stage.at / "retryable" if stage.says("retryable") else stage.id_at
            message = (
                f"stage {quote(stage.name)} seems to have a side effect ({verb}), and is tried again when it fails"
            )
            yield Finding(at, f'{message}; say "retryable": false', causes=(stage.id_at,))
