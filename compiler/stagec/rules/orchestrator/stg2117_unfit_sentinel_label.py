"""The label of the issue that stands for a project is not a described marker.

## Why this matters
climpt refuses the file: a label of role `routing` would bring the issue into a phase.

## How to fix
Add the label to `labels` with `"role": "marker"`.
"""

from collections.abc import Iterator

from stagec.core.json import object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Release, Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.project-sentinel", "WF-PROJECT-008", "WF-PROJECT-009"))
def check(workflow: Workflow) -> Iterator[Finding]:
    binding, specs = object_of(workflow.body.get("projectBinding")), workflow.body.get("labels")
    name = text_in(binding, "sentinelLabel") if workflow.release is Release.NEW else None
    if name is None or not isinstance(specs, dict):
        return
    at = workflow.at / "projectBinding" / "sentinelLabel"
    if name not in specs:
        yield Finding(at, f"label {quote(name)} is not in 'labels'{hint(name, NameIndex(specs))}")
    elif object_of(specs[name]).get("role") != "marker":
        yield Finding(at, f"label {quote(name)} stands for a project and must have the role 'marker'")
