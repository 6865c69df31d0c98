"""An envelope does not say what the stage reads.

## Why this matters
Without `inputs` stagec takes it that the stage reads nothing. What it does read is then neither given to it nor
checked, and another stage may change it meanwhile.

## How to fix
Add `inputs`; write `inputs: {}` for a stage that reads nothing.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import report_missing, rule


@rule(since="0.1", origin=("stage-protocol:missing-inputs",), severity=Severity.WARNING, groups=("strict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    yield from report_missing(plan, "missing-inputs", "stagec takes it that the stage reads nothing")
