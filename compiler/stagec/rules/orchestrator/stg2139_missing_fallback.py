"""An outcome of an agent leads nowhere.

## Why this matters
A run of an agent can always fail, and a verdict can be another one than those with a phase. Without `fallbackPhase`
the whole run of the file ends with an error.

## How to fix
Write `fallbackPhase`, such as a blocking phase.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import FAILED, PerformerRole, Workflow
from stagec.frontends.orchestrator.outcomes import find_outcomes
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.no-fallback",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        if agent.fallback is not None or "fallbackPhase" in agent.body or not agent.is_whole:
            continue
        if agent.role is not PerformerRole.TRANSFORMER and find_outcomes(workflow, agent).is_open:
            others = f"other verdicts than {listing(agent.outputs)}" if agent.outputs else "its verdicts"
            yield Finding(agent.at.key, f"agent {quote(agent.id)} has no phase for {others}")
        elif FAILED not in agent.exceptions and FAILED not in agent.outputs:
            yield Finding(agent.at.key, f"agent {quote(agent.id)} has no phase for a run that fails")
