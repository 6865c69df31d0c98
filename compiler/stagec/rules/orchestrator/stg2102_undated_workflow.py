"""An orchestrator file does not say for which release of climpt it is written.

## Why this matters
climpt 1.14 requires `issueSource` and refuses this file. climpt 1.13 reads it. stagec judges it as a file of climpt
1.13.

## How to fix
Add `issueSource` for climpt 1.14. With climpt 1.13, `closeOnComplete` of an agent shows the release.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.source-missing",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    if not workflow.is_dated:
        message = "the file has no 'issueSource': climpt 1.14 refuses it, and stagec reads it as a file of climpt 1.13"
        yield Finding(workflow.at / "issueSource", message)
