"""A hand-off that the command line of climpt 1.14 never writes.

## Why this matters
`run-workflow` of climpt 1.14 makes no writer of artifacts: hand-offs have no effect.

## How to fix
Nothing is wrong for other runners.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.portability import rule


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-unwired",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    for handoff in workflow.handoffs:
        yield Finding(handoff.at, f"the command line of climpt 1.14 does not write the artifact of {handoff.name}")
