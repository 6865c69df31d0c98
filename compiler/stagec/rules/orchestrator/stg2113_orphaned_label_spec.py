"""A label is described that no phase and no prioritizer uses.

## Why this matters
climpt refuses the file: the label would be created and mean nothing.

## How to fix
Remove the label, use it in `labelMapping`, or mark it with `"role": "marker"`.
"""

from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import list_used_labels, rule


@rule(since="0.1", origin=("climpt-1.14:wf.label-orphan", "WF-LABEL-004"))
def check(workflow: Workflow) -> Iterator[Finding]:
    used = {name for name, _ in list_used_labels(workflow)}
    is_mapped = isinstance(workflow.body.get("labelMapping"), dict)
    for name, body in object_of(workflow.body.get("labels")).items() if is_mapped else ():
        if name not in used and object_of(body).get("role", "routing") == "routing":
            message = f"label {quote(name)} is described, but no phase and no prioritizer uses it"
            yield Finding((workflow.at / "labels" / name).key, message)
