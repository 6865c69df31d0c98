"""An envelope does not say how long the stage may take.

## Why this matters
The watchdog needs a limit. Without `maxDurationSec` stagec takes the default of the protocol, 240 seconds, which may be
too short for the work or much too long to wait for.

## How to fix
Add `maxDurationSec`, from 30 to 600.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import report_missing, rule


@rule(since="0.1", origin=("stage-protocol:missing-max-duration",), severity=Severity.WARNING, groups=("strict",))
def check(plan: StagePlan) -> Iterator[Finding]:
    yield from report_missing(plan, "missing-duration", "the stage may take 240 seconds")
