"""A file of climpt 1.14 chooses issues by `criteria`.

## Why this matters
climpt 1.14 does not read `criteria`: it takes other issues than those that are meant.

## How to fix
Write what `criteria` says in `issueSource`: `labels`, `state` and `limit`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-criteria",))
def check(workflow: Workflow) -> Iterator[Finding]:
    if workflow.release is Release.NEW and "criteria" in workflow.body:
        message = "climpt 1.14 does not read 'criteria': 'issueSource' chooses the issues"
        yield Finding((workflow.at / "criteria").key, message)
