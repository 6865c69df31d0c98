"""A label has no entry in `labels`, where other labels have one.

## Why this matters
climpt creates the labels of `labels` at its start and refuses a file in which some are missing.

## How to fix
Add the label with `color` and `description`, or remove `labels`.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import list_used_labels, rule


@rule(since="0.1", origin=("climpt-1.14:wf.label-spec-missing", "WF-LABEL-003"))
def check(workflow: Workflow) -> Iterator[Finding]:
    specs = workflow.body.get("labels")
    if not isinstance(specs, dict):
        return
    for name, at in list_used_labels(workflow):
        if name not in specs:
            message = f"label {quote(name)} has no entry in 'labels'{hint(name, NameIndex(specs))}"
            yield Finding(at, message)
