"""A label is not described as the code host needs it.

## Why this matters
climpt creates the labels at its start and refuses a color that is none.

## How to fix
Write `color` as six hexadecimal digits without `#`, and a `description`. `role` is `routing` or `marker`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import report_shape, rule


@rule(since="0.1", origin=("climpt-1.14:wf.label-color", "climpt-1.14:wf.label-spec", "WF-LABEL-005"))
def check(workflow: Workflow) -> Iterator[Finding]:
    return report_shape(workflow, "malformed-label-spec")
