"""A transformer that succeeds can take the way of another outcome.

## Why this matters
A transformer with `fallbackPhases` whose answer has a `verdict` takes this verdict for its outcome in climpt 1.14,
also when its run succeeded. The documents say that it takes `outputPhase`.

## How to fix
Let the verdict be `success`, rename the member of the answer, or make the agent a validator.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import SUCCESS, PerformerRole, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.transformer-verdict",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if agent.role is PerformerRole.TRANSFORMER and agent.exceptions and called is not None and called.is_whole:
            possible = {Presence.SURE, Presence.POSSIBLE}
            odd = [each for each in called.closings if each.verdict in possible and each.verdicts != (SUCCESS,)]
            if odd:
                related = tuple(Related(each.at, "the schema of the answer") for each in odd)
                message = f"agent {quote(agent.id)} can succeed with a verdict, which climpt 1.14 takes for its outcome"
                yield Finding(agent.at / "fallbackPhases", message, related)
