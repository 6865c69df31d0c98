"""The source of issues has a member of another kind of source.

## Why this matters
Nothing reads the member. What it says does not happen.

## How to fix
Remove the member, or choose the kind of source that has it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.frontends.orchestrator.source import find_source_faults
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.source-member",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    return (Finding(each.at, each.sentence) for each in find_source_faults(workflow) if each.is_foreign)
