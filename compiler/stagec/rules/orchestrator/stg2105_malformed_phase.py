"""A phase is not written as climpt reads it.

## Why this matters
climpt refuses a phase of another type, and an actionable phase without an agent or a priority: it does not know who
works on the issue, or what goes first.

## How to fix
Give each phase a `type`: `actionable`, `terminal` or `blocking`. An actionable phase also has `agent` and `priority`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(since="0.1", origin=("climpt-1.14:wf.phase-type", "climpt-1.14:wf.phase-agent", "climpt-1.14:wf.phase-priority"))
def check(workflow: Workflow) -> Iterator[Finding]:
    return report_shape(workflow, "malformed-phase")
