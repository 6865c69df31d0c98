"""An orchestrator file of climpt 1.14 does not say where issues come from.

## Why this matters
climpt 1.14 refuses a file without `issueSource`.

## How to fix
Add `issueSource`. What climpt 1.13 did is `{"kind": "ghRepoIssues", "projectMembership": "unbound"}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.source-missing", "WF-ISSUE-SOURCE-001"))
def check(workflow: Workflow) -> Iterator[Finding]:
    source = workflow.body.get("issueSource")
    if workflow.release is not Release.NEW:
        return
    at = workflow.at / "issueSource"
    if "issueSource" not in workflow.body:
        yield Finding(at, "the file has no 'issueSource', which climpt 1.14 requires")
    elif not isinstance(source, dict) or not isinstance(source.get("kind"), str):
        yield Finding(at, "'issueSource' must be an object with a 'kind', such as 'ghRepoIssues'")
