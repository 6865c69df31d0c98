"""A case of a conditional transition can never be taken.

## Why this matters
The output schema names the values that the model may answer, and this case is none of them. Its author believes in a
path that no run takes; often the case is only misspelt, and the answers meant for it go to the `default`.

## How to fix
Write the case as the schema writes the value, or delete it. The cases of a boolean are `true` and `false`.
"""

from collections.abc import Iterator

from stagec.contract.choices import as_text
from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.answers import conditionals
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R9",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for each in conditionals(step):
            if each.is_open or not isinstance(each.values, tuple) or each.reading is None:
                continue
            known = NameIndex(as_text(value) for value in each.values)
            can = f"{quote(each.condition)} is always {listing(known, 'or')}" if known else "there is no such value"
            for case in each.impossible:
                message = f"step {quote(step.key)} never takes {quote(case)} on {quote(each.intent)}:"
                related = (Related(each.reading.at, "the value it chooses by"),)
                at = (each.at / "targets" / case).key
                yield Finding(at, f"{message} {can}{hint(case, known)}", related, guess(case, known))
