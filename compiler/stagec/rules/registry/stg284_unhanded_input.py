"""A step needs a value that the step it comes from never hands over.

## Why this matters
Other steps can have the values in `handoffFields`, each under the last part of its path; where that lists none, the
members of the whole answer. What is not among them has no value, and the step that needs it cannot start.

## How to fix
Correct the key, or add the path of the value to the `handoffFields` of the step that it comes from.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.inputs import InputFate, JudgedInput, judge_inputs
from stagec.rules.registry import describe_unhanded, relate_unhanded, rule

_SHOWN = 8


@rule(
    since="0.1",
    origin=(
        "steps-registry:handoff.key-not-produced",
        "steps-registry:handoff.source-empty-fields",
        "steps-registry:handoff.source-no-fields",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    same: dict[tuple[Place, str | None], list[JudgedInput]] = {}
    for each in judge_inputs(registry):
        if each.fate is InputFate.UNHANDED and each.is_vital:
            is_bare = each.at.pointer[-1:] == ("structuredGate",)  # the step hands over nothing at all
            same.setdefault((each.at, None if is_bare else each.given.key), []).append(each)
    for first, *others in same.values():
        also = tuple(Related(other.given.at, "taken here too") for other in others[:_SHOWN])
        yield Finding(first.at, describe_unhanded(first), (*relate_unhanded(first), *also))
