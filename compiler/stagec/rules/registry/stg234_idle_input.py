"""An input that a step can do without never has a value.

## Why this matters
The step that it comes from does not exist, or never hands over such a key. The step starts with the default or with
nothing instead, whatever happened before.

## How to fix
Correct the name in `from`, or take the input out.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import InputFate, judge_inputs
from stagec.rules.registry import describe_lost_source, describe_unhanded, relate_unhanded, rule


@rule(
    since="0.1",
    origin=("steps-registry:handoff.source-missing", "steps-registry:handoff.key-not-produced"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    for each in judge_inputs(registry):
        if each.is_vital:
            continue
        if each.fate is InputFate.LOST:
            yield Finding(each.at, describe_lost_source(each))
        elif each.fate is InputFate.UNHANDED:
            yield Finding(each.given.at / "from", describe_unhanded(each), relate_unhanded(each))
