"""The id of a stage does not say what the stage does.

## Why this matters
An id is `S{NN}_{verb}_{noun}`. One word that is not the name of an action leaves open what happens to what it names.

## How to fix
Write the verb before the noun: `S01_load_data` for `S01_data`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-missing-verb",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.MISSING_VERB):
        message = f"stage id {quote(found.text)} has no verb before {quote(found.verb)}"
        yield Finding(stage.id_at, f"{message}; such as {quote(f'S{found.number:02}_load_{found.verb}')}")
