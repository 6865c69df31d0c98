"""A hand-off waits for an outcome that the agent cannot have.

## Why this matters
The artifact is never written.

## How to fix
Correct the outcome, or remove the hand-off.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.frontends.orchestrator.outcomes import find_outcomes
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-outcome",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for handoff in workflow.handoffs:
        agent = workflow.agents.get(handoff.agent or "")
        if agent is None or handoff.outcome is None or agent.role is None:
            continue
        outcomes = find_outcomes(workflow, agent)
        known = NameIndex(outcomes.names)
        if not outcomes.is_open and handoff.outcome not in known:
            what = f"{handoff.name} waits for {quote(handoff.outcome)}, which is no outcome of agent {quote(agent.id)}"
            at = handoff.at / "when" / "outcome"
            yield Finding(at, f"{what}{hint(handoff.outcome, known)}", fix=guess(handoff.outcome, known))
