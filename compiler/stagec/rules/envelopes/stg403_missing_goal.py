"""An envelope has no `goal`.

## Why this matters
The goal tells whoever executes the stage what to achieve, and whoever reads a report what was attempted. Nothing can
stand in for it.

## How to fix
Add `goal`: one sentence of 10 to 200 characters.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import report_missing, rule


@rule(since="0.1", origin=("stage-protocol:missing-goal",))
def check(plan: StagePlan) -> Iterator[Finding]:
    yield from report_missing(plan, "missing-goal")
