"""An issue is to be closed at an outcome that the agent cannot have.

## Why this matters
The issue is never closed. climpt refuses the file where a validator has no phase for the outcome.

## How to fix
Name an outcome of the agent: a key of `outputPhases` of a validator; `success` or `failed` of a transformer.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import FAILED, PerformerRole, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.close-key", "WF-REF-006"))
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        condition = agent.close.condition if agent.close is not None and not agent.close.is_off else None
        named = tuple(agent.outputs)
        if agent.role is PerformerRole.TRANSFORMER:
            named = (*named, FAILED)
        # the verdicts of a transformer with phases for them are not listed anywhere
        is_open = bool(agent.exceptions) or not agent.is_whole
        if condition is not None and not is_open and condition.name not in named:
            known = NameIndex(named)
            what = f"agent {quote(agent.id)} closes issues at {quote(condition.name)}, which is no outcome of it"
            yield Finding(condition.at, f"{what}{hint(condition.name, known)}", fix=guess(condition.name, known))
