"""An agent of an orchestrator file is not written as climpt reads it.

## Why this matters
An agent of another role is loaded, and its first run ends with an error. Members of the other role are not read.

## How to fix
A transformer has `outputPhase` and may have `fallbackPhases`. A validator has `outputPhases`. Both may have
`fallbackPhase`.
"""

from collections.abc import Iterator, Mapping

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import PerformerRole, Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(since="0.1", origin=("climpt-1.14:wf.agent-role", "climpt-1.14:wf.agent-shape"))
def check(workflow: Workflow) -> Iterator[Finding]:
    yield from report_shape(workflow, "malformed-workflow-agent")
    for agent in workflow.agents.values():
        for member in _FOREIGN.get(agent.role, ()):
            if member in agent.body:
                message = f"agent {quote(agent.id)} is a {agent.role}, which has no {quote(member)}"
                yield Finding((agent.at / member).key, message)


_FOREIGN: Mapping[PerformerRole | None, tuple[str, ...]] = {
    PerformerRole.TRANSFORMER: ("outputPhases",),
    PerformerRole.VALIDATOR: ("outputPhase", "fallbackPhases"),
}
