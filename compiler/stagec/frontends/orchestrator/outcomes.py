"""What outcomes the agents of an orchestrator file can have."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import value
from stagec.frontends.orchestrator.document import FAILED, SUCCESS, Performer, PerformerRole, Workflow


@value
class KnownOutcomes:
    """The outcomes of an agent; where they are `is_open`, there may be others than those that are known."""

    names: tuple[str, ...]
    is_open: bool


def find_outcomes(workflow: Workflow, agent: Performer) -> KnownOutcomes:
    """Return the outcomes of an agent, as its role and its answers tell."""
    is_transformer = agent.role is PerformerRole.TRANSFORMER
    own = (SUCCESS, FAILED) if is_transformer else ()
    if is_transformer and not agent.exceptions:
        return KnownOutcomes(own, is_open=False)
    verdicts = list_verdicts(workflow, agent)
    if verdicts is None:
        return KnownOutcomes(tuple(dict.fromkeys((*own, *agent.outputs, *agent.exceptions))), is_open=True)
    return KnownOutcomes(tuple(dict.fromkeys((*own, *verdicts))), is_open=False)


def list_verdicts(workflow: Workflow, agent: Performer) -> tuple[str, ...] | None:
    """Return the verdicts that closing answers of an agent can have; None where nobody lists them."""
    called = workflow.called.get(agent.id)
    if called is None or not called.is_whole or not called.closings:
        return None
    found: dict[str, None] = {}
    for each in called.closings:
        if each.verdicts is None:
            return None
        found.update(dict.fromkeys(each.verdicts))
    return tuple(found)


def list_template_keys(workflow: Workflow, agent: Performer) -> Iterator[str]:
    """Yield the names under which climpt looks for comments: of the agent and an outcome, in two forms."""
    for outcome in dict.fromkeys((*find_outcomes(workflow, agent).names, *agent.outputs, *agent.exceptions)):
        raised = f"{outcome[:1].upper()}{outcome[1:]}"
        yield f"{agent.id}{raised}"
        yield f"{agent.id}To{raised}"
