"""An answer can fit the output schema and have no intent.

## Why this matters
The model is only made to answer what the schema requires. When it leaves the intent out, the gate has nothing to read:
the run ends as failed, or the fallback intent decides.

## How to fix
Name every part of `intentField` in `required`, at each level of the output schema.
"""

from collections.abc import Iterator

from stagec.rules.registry import (
    Finding,
    Place,
    Presence,
    Reading,
    Registry,
    Related,
    Severity,
    Step,
    names_another_member,
    quote,
    readings,
    rule,
)


@rule(since="0.1", origin=("steps-registry:beyond.intent-required", "rulings:R13"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    told: dict[Place, list[tuple[Step, Reading]]] = {}
    for step in registry.steps.values():
        for each in readings(step, Presence.POSSIBLE):
            if each.member == "intentField" and each.promised.optional is not None and _is_missable(step, each):
                told.setdefault(each.promised.optional.at, []).append((step, each))
    for at, ((step, each), *others) in told.items():
        also = f" (and {len(others)} more)" if others else ""
        message = f"step {quote(step.key)}{also} can answer without an intent: {quote(each.path)} is not required"
        yield Finding(each.at, message, (Related(at, "this schema lets it be left out"),))


def _is_missable(step: Step, reading: Reading) -> bool:
    return reading.promised.presence is Presence.POSSIBLE and not names_another_member(step)
