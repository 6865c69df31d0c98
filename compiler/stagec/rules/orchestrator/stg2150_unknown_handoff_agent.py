"""A hand-off waits for an agent that the file does not have.

## Why this matters
The artifact is never written.

## How to fix
Correct the name, or remove the hand-off.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-agent",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    known = NameIndex(object_of(workflow.body.get("agents")))
    for handoff in workflow.handoffs:
        name = handoff.agent
        if name is not None and name not in known:
            message = f"{handoff.name} waits for agent {quote(name)}, which this file does not have{hint(name, known)}"
            yield Finding(handoff.at / "when" / "fromAgent", message, fix=guess(name, known))
