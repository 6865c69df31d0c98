"""A phase in which nobody works has an agent or a priority.

## Why this matters
climpt ends the run in a terminal or blocking phase. Its agent never works there.

## How to fix
Remove `agent` and `priority`, or make the phase actionable.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.phase-idle-agent",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for phase in workflow.phases.values():
        idle = [name for name in ("agent", "priority") if phase.body.get(name) is not None]
        if phase.type is not None and not phase.is_actionable and idle:
            message = f"phase {quote(phase.id)} is {phase.type}, and nothing reads its {listing(idle)}"
            yield Finding((phase.at / idle[0]).key, message)
