"""An answer can fit the output schema and have no intent.

## Why this matters
The model is only made to answer what the schema requires. When it leaves the intent out, the gate has nothing to read:
the run ends as failed, or the fallback intent decides.

## How to fix
Name every part of `intentField` in `required`, at each level of the output schema. Steps that read their intent from
the same path are told together: each of their schemas needs it.
"""

from collections.abc import Iterable, Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.answers import Reading, names_another_member, readings
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:beyond.intent-required", "rulings:R13", "steps-registry:gate.no-value"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
    told: dict[str, list[tuple[Step, Reading]]] = {}
    for step in registry.steps.values():
        for each in readings(step, Presence.POSSIBLE):
            if each.member == "intentField" and each.promised.optional is not None and _is_missable(step, each):
                told.setdefault(each.path, []).append((step, each))
    for path, found in told.items():
        (step, first), *others = found
        who = f"steps {listing([each.key for each, _ in found])}" if others else f"step {quote(step.key)}"
        message = f"{who} can answer without an intent: {quote(path)} is not required"
        yield Finding(first.at, message, tuple(_lenient(each for _, each in found)))


def _lenient(found: Iterable[Reading]) -> Iterator[Related]:
    """Yield the schemas that let the intent be left out, and how many more there are."""
    places = list(dict.fromkeys(each.promised.optional.at for each in found if each.promised.optional is not None))
    for at in places[: _SHOWN - 1]:
        yield Related(at, "this schema lets it be left out")
    for at in places[_SHOWN - 1 : _SHOWN]:
        more = f", like {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        yield Related(at, f"this schema lets it be left out{more}")


def _is_missable(step: Step, reading: Reading) -> bool:
    return reading.promised.presence is Presence.POSSIBLE and not names_another_member(step)
