"""A step takes a value of another step that hands nothing over.

## Why this matters
A step without `handoffFields` keeps its whole answer for the steps that follow, and the value is taken of that. As
soon as its gate lists a single path, it is gone: then only the listed values are kept. What passes between two steps
should be said where it is handed over.

## How to fix
Add the path of the value to the `handoffFields` of the step that it comes from.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import InputFate, judge_inputs
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.source-no-gate",
        "steps-registry:handoff.source-no-fields",
        "steps-registry:handoff.source-empty-fields",
    ),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    for each in judge_inputs(registry):
        if each.fate is InputFate.WHOLE and each.given.is_required and each.source is not None:
            source, given = each.source, each.given
            at = source.gate_at if source.gate is not None else source.at.key
            what = f"input {quote(given.name)} of step {quote(each.step.key)} takes {quote(given.key)} of step"
            message = f"{what} {quote(source.key)}, which hands nothing over"
            yield Finding(each.at, message, (Related(at, "it hands nothing over"),))
