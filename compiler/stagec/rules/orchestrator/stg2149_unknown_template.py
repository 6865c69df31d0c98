"""A hand-off takes a comment that does not exist.

## Why this matters
climpt refuses to start.

## How to fix
Correct the name after `templates.`, or add the comment to `handoff.commentTemplates`.
"""

from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.template-ref", "W9"))
def check(workflow: Workflow) -> Iterator[Finding]:
    known = NameIndex(object_of(object_of(workflow.body.get("handoff")).get("commentTemplates")))
    for handoff in workflow.handoffs:
        for key, text in handoff.payload.items():
            name = text.removeprefix("templates.")
            if name != text and name not in known:
                message = f"{handoff.name} takes comment {quote(name)}, which does not exist{hint(name, known)}"
                yield Finding(handoff.at / "payloadFrom" / key, message)
