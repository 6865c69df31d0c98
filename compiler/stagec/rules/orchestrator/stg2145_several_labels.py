"""Several labels stand for one phase.

## Why this matters
An issue with any of them is in the phase. A transition to the phase adds the first of them and removes the others.

## How to fix
Nothing is wrong. Write the label first that transitions should add.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.label-choice",), severity=Severity.NOTE)
def check(workflow: Workflow) -> Iterator[Finding]:
    known: dict[str, list[Mention]] = {}
    for label, mention in workflow.labels.items():
        known.setdefault(mention.name, []).append(Mention(label, mention.at))
    for phase, labels in known.items():
        if len(labels) > 1 and phase in workflow.phases:
            names = listing([each.name for each in labels])
            message = f"labels {names} stand for phase {quote(phase)}: transitions add {quote(labels[0].name)}"
            yield Finding(labels[1].at.key, message, (Related(labels[0].at.key, "the label that is added"),))
