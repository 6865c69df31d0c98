"""A conditional transition leaves answers without a target.

## Why this matters
Without a `default`, an answer whose value has no case cannot be routed: it fits the schema, and the run fails.

## How to fix
Add a `default` case. Or make it impossible to need one: require the value at every level of the output schema, give it
an `enum`, and write a case for every value. The cases of a boolean are `true` and `false`.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.contract.schemas import Miss
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.answers import Conditional, conditionals
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule

_SHOWN = 8
"""So many cases that no value meets are shown."""


@rule(since="0.1", origin=("steps-registry:doc.conditional-default", "steps-registry:beyond.conditional-domain"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for each in conditionals(step):
            if each.is_open and each.reading is not None and not each.reading.is_uncertain:
                what = f"step {quote(step.key)} chooses by {quote(each.condition)} on {quote(each.intent)}"
                at = each.at / "targets"
                unmet = (Related((at / case).key, "no value meets this case") for case in each.impossible[:_SHOWN])
                related = (Related(each.reading.at, "the value it chooses by"), *unmet)
                yield Finding(at, f"{what} without a default, {_why(each)}", related)


def _why(each: Conditional) -> str:
    reasons = []
    presence = each.reading.promised.presence if each.reading is not None else Presence.UNKNOWABLE
    if presence is Presence.UNDECLARED:
        return "but its output schema does not declare that value"
    if each.uncovered:
        reasons.append(f"{listing(each.uncovered)} {'has' if len(each.uncovered) == 1 else 'have'} no case")
    if each.values is Miss.NO_MEMBER:
        reasons.append("its output schema does not name the values")
    if presence is Presence.POSSIBLE:
        reasons.append("an answer may leave the value out")
    return f"but {' and '.join(reasons)}"
