"""A label that is meant to mark issues stands for a phase.

## Why this matters
A label of role `marker` is one that has nothing to do with phases. Here it brings issues into one.

## How to fix
Remove `"role": "marker"`, or the label from `labelMapping`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.marker-routed",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    specs = object_of(workflow.body.get("labels"))
    for label, mention in workflow.labels.items():
        if object_of(specs.get(label)).get("role") == "marker":
            message = f"label {quote(label)} has the role 'marker' and stands for phase {quote(mention.name)}"
            yield Finding(mention.at.key, message)
