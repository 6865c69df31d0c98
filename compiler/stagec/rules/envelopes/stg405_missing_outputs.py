"""An envelope does not say what the stage writes.

## Why this matters
Without `outputs` stagec takes it that the stage writes nothing. Nothing that it writes is checked, published or given
to other stages.

## How to fix
Add `outputs`; write `outputs: {}` for a stage that writes nothing.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import report_missing, rule


@rule(since="0.1", origin=("stage-protocol:missing-outputs",), severity=Severity.WARNING, groups=("strict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    yield from report_missing(plan, "missing-outputs", "stagec takes it that the stage writes nothing")
