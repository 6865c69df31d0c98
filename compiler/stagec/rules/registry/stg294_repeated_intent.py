"""A gate lists an intent twice.

## Why this matters
The second mention changes nothing. Most often another intent was meant, which the step then cannot answer.

## How to fix
Delete the second mention, or write the intent that was meant.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import list_of, object_of
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:reg.gate-intent-enum", "rulings:R2"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        listed = list_of(object_of(step.body.get("structuredGate")).get("allowedIntents"))
        if step.gate is None or len(step.gate.allowed) == len(listed):
            continue
        known: dict[str, int] = {}
        for index, intent in enumerate(listed):
            if isinstance(intent, str) and known.setdefault(intent, index) != index:
                at = step.allowed_at / index
                fix = Fix(f"remove the second {quote(intent)}", (Edit(Change.REMOVE, at),))
                related = (Related(step.allowed_at / known[intent], "the first"),)
                yield Finding(at, f"step {quote(step.key)} allows {quote(intent)} twice", related, fix)
