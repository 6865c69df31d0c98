"""A hand-off is not written as climpt reads it.

## Why this matters
climpt takes what is absent for nothing and stops with an error when the hand-off is due.

## How to fix
Write `id`, `when` with `fromAgent` and `outcome`, `emit` with `type`, `schemaRef` and `path`, `payloadFrom` and
`persistPayloadTo`. Each id is there once.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-shape",))
def check(workflow: Workflow) -> Iterator[Finding]:
    yield from report_shape(workflow, "malformed-handoff")
    seen: dict[str, Place] = {}
    for handoff in workflow.handoffs:
        at = handoff.at / "id"
        if handoff.id is not None and seen.setdefault(handoff.id, at) != at:
            related = (Related(seen[handoff.id], "used here first"),)
            yield Finding(at, f"two hand-offs have the id {quote(handoff.id)}", related)
