"""The words in the id of a stage contain digits.

## Why this matters
The schema of the protocol allows digits only in the number, so other programs refuse the checkpoints of the stage.

## How to fix
Spell the number out, or tell the stages apart by another word: `S02_process_first` for `S02_process_chunk1`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-digits",), severity=Severity.WARNING, groups=("strict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.DIGITS):
        message = f"stage id {quote(found.text)} has digits behind its number, so other programs refuse its checkpoints"
        yield Finding(stage.id_at, message)
