"""A hand-off names a schema that is not there.

## Why this matters
climpt reads `agents/common/schemas/NAME.json` when the hand-off is due, and stops with an error.

## How to fix
Add the schema, or correct the name.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-schema",))
def check(workflow: Workflow) -> Iterator[Finding]:
    if not workflow.artifacts.has_folder:
        return
    for handoff in workflow.handoffs:
        if handoff.schema is not None and workflow.artifacts.schemas.get(handoff.schema) is None:
            file = f"{handoff.schema}.json"
            message = f"there is no schema {quote(file)} in {quote(workflow.artifacts.folder)} for {handoff.name}"
            yield Finding(handoff.at / "emit" / "schemaRef", message)
