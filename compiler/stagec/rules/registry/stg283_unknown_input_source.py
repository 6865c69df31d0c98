"""An input comes from a step that does not exist, or does not say from which.

## Why this matters
`from` names a step and, after the last dot, the key under which it hands a value over. Without such a step nothing is
handed over, and the step that needs the value cannot start.

## How to fix
Correct the name: `"from": "initial.issue.approach"` is `approach` of step `initial.issue`. Sections hand nothing over.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import InputFate, judge_inputs
from stagec.rules.registry import describe_lost_source, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.source-missing",
        "steps-registry:input.bad-from",
        "steps-registry:input.required-missing",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for each in judge_inputs(registry):
        if each.fate is InputFate.MALFORMED:
            message = (
                f"input {quote(each.given.name)} of step {quote(each.step.key)} comes from {quote(each.given.source)}"
            )
            yield Finding(each.at, f"{message}, which is no step and a key with a dot between them")
        elif each.fate is InputFate.LOST and each.is_vital:
            meant = Guess(each.given.step, each.near) if each.near is not None else None
            yield Finding(each.at, describe_lost_source(each), fix=meant)
