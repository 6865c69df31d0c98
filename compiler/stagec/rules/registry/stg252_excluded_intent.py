"""An intent is listed where the schema lists its intents, and another part of the schema rules it out.

## Why this matters
All parts of a schema hold together: what `allOf` or a referenced schema forbids, an enum beside it cannot allow. The
intent looks possible, and no answer that fits the schema can ever have it.

## How to fix
Add the intent to the other list too, or remove it from this one, `allowedIntents` and the transitions.
"""

from collections.abc import Iterator

from stagec.contract.choices import as_text
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.answers import names_another_member
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R2",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is None or step.output is None or not step.output.excluded or names_another_member(step):
            continue
        for each in step.output.excluded:
            intent = as_text(each.given)
            if intent in step.gate.allowed:
                message = f"{quote(intent)} can never be answered: another part of the schema rules it out"
                related = () if each.by is None else (Related(each.by, "this part"),)
                yield Finding(each.at, message, related)
