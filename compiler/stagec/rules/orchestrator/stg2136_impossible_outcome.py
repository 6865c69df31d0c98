"""A phase is named for an outcome that the agent cannot have.

## Why this matters
The schema of the closing answer does not allow the verdict. The phase never follows.

## How to fix
Correct the name of the outcome, or add it to the schema of the agent.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Performer, PerformerRole, Workflow
from stagec.frontends.orchestrator.outcomes import find_outcomes
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.outcome-impossible",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        outcomes = find_outcomes(workflow, agent)
        known = NameIndex(outcomes.names)
        for outcome, at in _list_named(agent) if not outcomes.is_open else ():
            if outcome not in known:
                message = f"agent {quote(agent.id)} cannot have the outcome {quote(outcome)}{hint(outcome, known)}"
                yield Finding(at, message, _relate(workflow, agent))


def _list_named(agent: Performer) -> Iterator[tuple[str, Place]]:
    """Yield the outcomes that an agent is described with, once each."""
    if agent.role is PerformerRole.VALIDATOR:
        yield from ((each, (agent.at / "outputPhases" / each).key) for each in agent.outputs)
    yield from ((each, (agent.at / "fallbackPhases" / each).key) for each in agent.exceptions)
    condition = agent.close.condition if agent.close is not None else None
    # a validator without a phase for the outcome is told of that
    if condition is not None and agent.exceptions and condition.name not in agent.exceptions:
        yield condition.name, condition.at


def _relate(workflow: Workflow, agent: Performer) -> tuple[Related, ...]:
    called = workflow.called.get(agent.id)
    return tuple(Related(each.at, "the schema of the answer") for each in called.closings) if called is not None else ()
