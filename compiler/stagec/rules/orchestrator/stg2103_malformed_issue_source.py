"""The source of issues is not written as climpt reads it.

## Why this matters
climpt refuses the file, or asks the code host for something else than was meant.

## How to fix
A source is one of three:

| kind | members |
|---|---|
| `ghProject` | `project`: `{"owner": …, "number": …}` or `{"id": …}`; `labels`, `state`, `limit` |
| `ghRepoIssues` | `repo`, `labels`, `state`, `limit`, `projectMembership`: `any` or `unbound` |
| `explicit` | `issueIds`: a list with at least one text or number |
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.frontends.orchestrator.source import find_source_faults
from stagec.rules.orchestrator import rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.source-kind",
        "climpt-1.14:wf.source-project",
        "climpt-1.14:wf.source-ids",
        "climpt-1.14:wf.source-membership",
        "climpt-1.14:wf.source-member",
    ),
)
def check(workflow: Workflow) -> Iterator[Finding]:
    return (Finding(each.at, each.sentence) for each in find_source_faults(workflow) if not each.is_foreign)
