"""A validator can answer without a verdict.

## Why this matters
climpt 1.14 ends the run of the file with an error when the closing answer of a validator has no `verdict`. Its
documents say that `fallbackPhase` follows.

## How to fix
Put `verdict` into `required` of the schema of the closing answer.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import PerformerRole, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-undeclared",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if agent.role is not PerformerRole.VALIDATOR or called is None or not called.is_whole:
            continue
        lacking = [each for each in called.closings if each.verdict not in {Presence.SURE, Presence.UNKNOWABLE}]
        if lacking:
            steps = listing([each.step for each in lacking])
            related = tuple(Related(each.at, "the schema of the answer") for each in lacking)
            yield Finding(agent.at.key, f"agent {quote(agent.id)} can answer without a verdict in {steps}", related)
