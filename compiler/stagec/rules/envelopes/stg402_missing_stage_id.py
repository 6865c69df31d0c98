"""An envelope has no `stageId`.

## Why this matters
Other stages name a stage by its id, its outputs lie in a folder of that name, and checkpoints record it. A stage
without one can neither be depended on nor resumed.

## How to fix
Add `stageId`: `S`, two digits, and what the stage does to what, such as `S01_load_data`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import report_missing, rule


@rule(since="0.1", origin=("stage-protocol:missing-stage-id",))
def check(plan: StagePlan) -> Iterator[Finding]:
    yield from report_missing(plan, "missing-stage-id")
