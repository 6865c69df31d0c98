"""An orchestrator file lacks one of its sections.

## Why this matters
climpt reads phases, labels and agents before anything else, and refuses a file without one of them, or with an empty
one.

## How to fix
Add the section. `version` is any text.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.version",
        "climpt-1.14:wf.phases",
        "climpt-1.14:wf.label-mapping",
        "climpt-1.14:wf.agents",
        "climpt-1.14:wf.label-empty",
    ),
)
def check(workflow: Workflow) -> Iterator[Finding]:
    return report_shape(workflow, "incomplete-workflow")
