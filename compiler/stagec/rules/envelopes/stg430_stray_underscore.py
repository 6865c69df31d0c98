"""The id of a stage ends with an underscore, or has two in a row.

## Why this matters
It is most likely a slip, and the id is easily confused with the one without it.

## How to fix
Join the words with one underscore each.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_id_faults
from stagec.protocol.stage_ids import StageIdFault
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:stage-id-underscore-run",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, found in find_id_faults(plan, StageIdFault.UNDERSCORE_RUN):
        plain = "_".join(word for word in found.text.split("_") if word)
        yield Finding(stage.id_at, f"stage id {quote(found.text)} has a stray underscore; did you mean {quote(plain)}?")
