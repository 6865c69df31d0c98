"""What outcomes the agents of an orchestrator file can have."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import value
from stagec.frontends.orchestrator.document import FAILED, SUCCESS, Performer, PerformerRole, Workflow


@value
class Outcomes:
    """The outcomes that are known of an agent; where they are `is_open`, there may be others."""

    names: tuple[str, ...]
    is_open: bool


def find_outcomes(agent: Performer) -> Outcomes:
    """Return the outcomes of an agent, as its role and its answers tell."""
    if agent.role is PerformerRole.TRANSFORMER and not agent.exceptions:
        return Outcomes((SUCCESS, FAILED), is_open=False)
    own = (SUCCESS, FAILED) if agent.role is PerformerRole.TRANSFORMER else ()
    return Outcomes(tuple(dict.fromkeys((*own, *agent.outputs, *agent.exceptions))), is_open=True)


def list_template_keys(workflow: Workflow) -> Iterator[str]:
    """Yield the names under which climpt looks for comments: of an agent and an outcome, in two forms."""
    for agent in workflow.agents.values():
        for outcome in find_outcomes(agent).names:
            raised = f"{outcome[:1].upper()}{outcome[1:]}"
            yield f"{agent.id}{raised}"
            yield f"{agent.id}To{raised}"
