"""The schemas of hand-offs cannot be found.

## Why this matters
climpt looks for them in `agents/common/schemas`, below the folder in which it runs. This project has no such folder,
so stagec does not judge what hand-offs write.

## How to fix
Nothing is wrong if the schemas are elsewhere when climpt runs.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-schema",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    named = [each for each in workflow.handoffs if each.schema is not None]
    if named and not workflow.artifacts.has_folder:
        message = f"the project has no folder {quote(workflow.artifacts.folder)}: schemas of hand-offs are not judged"
        yield Finding(named[0].at / "emit" / "schemaRef", message)
