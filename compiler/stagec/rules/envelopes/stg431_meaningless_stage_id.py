"""The id of a stage says nothing about what the stage does.

## Why this matters
The id is all that is seen of a stage in logs, folders and pictures. The protocol lists `S01_do_stuff` as a wrong id.

## How to fix
Say what the stage does and on what: `S01_load_data`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-vague-verb",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.MEANINGLESS):
        yield Finding(stage.id_at, f"stage id {quote(found.text)} says nothing about what the stage does")
