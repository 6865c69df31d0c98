"""An agent can give a verdict that leads nowhere.

## Why this matters
The schema of the closing answer allows the verdict. The file has no phase for it and no `fallbackPhase`, so the run
of the file ends with an error.

## How to fix
Add the verdict to `outputPhases`, or write `fallbackPhase`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import PerformerRole, Workflow
from stagec.frontends.orchestrator.outcomes import list_verdicts
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.outcome-uncovered",))
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        verdicts = list_verdicts(workflow, agent)
        is_judged = agent.role is PerformerRole.VALIDATOR and agent.is_whole and "fallbackPhase" not in agent.body
        lost = [each for each in verdicts or () if each not in agent.outputs] if is_judged else []
        if lost:
            related = tuple(Related(each.at, "the schema of the answer") for each in workflow.called[agent.id].closings)
            message = f"agent {quote(agent.id)} can give the verdict {listing(lost, 'or')}, which leads to no phase"
            yield Finding(agent.at / "outputPhases", message, related)
