"""A step needs a value that the step it comes from never hands over.

## Why this matters
Other steps can have the values in `handoffFields`, each under the last part of its path; where that lists none, the
members of the whole answer. What is not among them has no value, and the step that needs it cannot start.

## How to fix
Correct the key, or add the path of the value to the `handoffFields` of the step that it comes from.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import InputFate, judge_inputs
from stagec.rules.registry import describe_unhanded, relate_unhanded, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.key-not-produced",
        "steps-registry:handoff.source-empty-fields",
        "steps-registry:handoff.source-no-fields",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for each in judge_inputs(registry):
        if each.fate is InputFate.UNHANDED and each.is_vital:
            yield Finding(each.at, describe_unhanded(each), relate_unhanded(each))
