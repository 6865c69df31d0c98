"""The id of a stage does not say what the stage works on.

## Why this matters
An id is `S{NN}_{verb}_{noun}`. The protocol itself uses ids such as `S02_eda`, but its schema and the programs that
save checkpoints refuse them.

## How to fix
Write a noun after the verb: `S05_evaluate_model` for `S05_evaluate`, `S02_explore_data` for `S02_eda`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-missing-noun",), severity=Severity.WARNING, groups=("strict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.MISSING_NOUN):
        message = f"stage id {quote(found.text)} has no noun after {quote(found.verb)}"
        yield Finding(stage.id_at, f"{message}, so other programs refuse its checkpoints")
