"""The verb in the id of a stage is none of the protocol's vocabulary.

## Why this matters
Common verbs make plans easy to compare. Another verb is legal: the protocol uses `prepare` and `notify` itself. It
may also be a slip of the pen.

## How to fix
Use load, validate, clean, explore, engineer, split, train, tune, evaluate, analyze, generate or export where one
fits.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import VERBS, StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-unknown-verb",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.UNKNOWN_VERB):
        message = f"verb {quote(found.verb)} in stage id {quote(found.text)} is not in the protocol's vocabulary"
        yield Finding(stage.id_at, f"{message}{hint(found.verb, VERBS)}")
