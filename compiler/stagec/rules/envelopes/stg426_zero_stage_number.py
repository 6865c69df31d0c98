"""The number of a stage is 00.

## Why this matters
Stages are numbered from 01 to 99.

## How to fix
Give the stage the number of its place in the plan. Several stages may share one number.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-sequence-zero",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.SEQUENCE_ZERO):
        yield Finding(stage.id_at, f"stage id {quote(found.text)} has the number 00; numbers begin with 01")
