"""An agent is to close issues, and no outcome of it leads to a terminal phase.

## Why this matters
climpt closes an issue only when an outcome leads to a terminal phase, and with a condition only at this outcome. The
issue stays open.

## How to fix
Lead the outcome to a terminal phase, or remove `closeBinding`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import DIRECT, PhaseType, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.close-never",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        close = agent.close
        if close is None or close.channel != DIRECT or not agent.is_whole:
            continue
        wanted = close.condition.name if close.condition is not None else None
        ways = [way for way in agent.list_ways() if wanted in {None, way.outcome}]
        # an outcome without a way is told by another rule, and so is a phase that does not exist
        phases = [workflow.phases.get(way.phase.name) for way in ways]
        if phases and all(each is not None and each.type not in {PhaseType.TERMINAL, None} for each in phases):
            who = f"agent {quote(agent.id)}"
            which = (
                f"no outcome of {who} leads" if wanted is None else f"outcome {quote(wanted)} of {who} does not lead"
            )
            yield Finding(close.at, f"{which} to a terminal phase: the issue is never closed")
