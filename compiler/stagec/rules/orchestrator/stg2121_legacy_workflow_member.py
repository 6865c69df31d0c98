"""A file of climpt 1.14 has a member of an earlier release.

## Why this matters
climpt 1.14 does not read the member and takes the default.

## How to fix
Rename `issueStore` to `subjectStore`. `--dry-run` is an option of the command line.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-store", "climpt-1.14:wf.legacy-dry-run"), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    if workflow.release is not Release.NEW:
        return
    if "issueStore" in workflow.body:
        message = "climpt 1.14 calls 'issueStore' 'subjectStore' and does not read this"
        yield Finding((workflow.at / "issueStore").key, message)
    if "dryRun" in workflow.body:
        message = "climpt 1.14 does not read 'dryRun': it is an option of the command line"
        yield Finding((workflow.at / "dryRun").key, message)
    for handoff in workflow.handoffs:
        if handoff.body.get("persistPayloadTo") == "issueStore":
            message = f"{handoff.name} keeps its payload in 'issueStore', which climpt 1.14 calls 'subjectStore'"
            yield Finding(handoff.at / "persistPayloadTo", message)
