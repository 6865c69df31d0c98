"""A rule about cycles has a value that climpt does not accept.

## Why this matters
climpt refuses a file whose issues may make no transition, and one that waits a negative time.

## How to fix
`maxCycles` is a whole number from 1, `cycleDelayMs` a number from 0, `maxConsecutivePhases` a whole number from 0.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(since="0.1", origin=("climpt-1.14:wf.max-cycles", "climpt-1.14:wf.cycle-delay", "climpt-1.14:wf.consecutive"))
def check(workflow: Workflow) -> Iterator[Finding]:
    return report_shape(workflow, "malformed-cycle-rule")
