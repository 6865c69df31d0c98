"""The default label of the prioritizer is not one of its labels.

## Why this matters
An issue gets the default label where the prioritizer gives it none of its labels. With another label it has no place
in the order.

## How to fix
Add the label to `labels` of the prioritizer, or choose one of them.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.json import list_of, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import Workflow
from stagec.rules.orchestrator import rule


@rule(since="0.1", origin=("climpt-1.14:wf.prioritizer-default",), severity=Severity.WARNING)
def check(workflow: Workflow) -> Iterator[Finding]:
    given = object_of(workflow.body.get("prioritizer"))
    name, labels = text_in(given, "defaultLabel"), list_of(given.get("labels"))
    if name is not None and labels and name not in labels:
        known = NameIndex(each for each in labels if isinstance(each, str))
        message = f"default label {quote(name)} is not one of the labels of the prioritizer{hint(name, known)}"
        yield Finding(workflow.at / "prioritizer" / "defaultLabel", message, fix=guess(name, known))
