"""A hand-off takes a value that no answer of the agent declares.

## Why this matters
The value is absent when the hand-off is due, or has another name.

## How to fix
Correct the path, or declare the member in the schema of the closing answer.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-source",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for handoff in workflow.handoffs:
        called = workflow.called.get(handoff.agent or "")
        closings = called.closings if called is not None and called.is_whole else ()
        for key, text in handoff.payload.items() if closings else ():
            path = text.removeprefix("$.agent.result.")
            if path == text or not path:
                continue
            found = {each.look_up(path) if each.look_up is not None else Presence.UNKNOWABLE for each in closings}
            if found <= {Presence.UNDECLARED, Presence.IMPOSSIBLE}:
                what = f"{handoff.name} takes {quote(path)}"
                message = f"{what}, which no closing answer of agent {quote(handoff.agent)} declares"
                related = tuple(Related(each.at, "the schema of the answer") for each in closings)
                yield Finding(handoff.at / "payloadFrom" / key, message, related)
