"""The verb in the id of a stage is vague.

## Why this matters
`do`, `handle` or `make` fits every stage, so a reader of logs and folders learns nothing from it.

## How to fix
Use a verb that says what happens. The protocol suggests load, validate, clean, explore, engineer, split, train, tune,
evaluate, analyze, generate and export.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-vague-verb",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.VAGUE_VERB):
        yield Finding(stage.id_at, f"verb {quote(found.verb)} in stage id {quote(found.text)} is vague")
