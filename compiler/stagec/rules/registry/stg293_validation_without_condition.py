"""A validation step has no conditions.

## Why this matters
It looks as if the closure step were guarded, but no validator is run before the run counts as completed.

## How to fix
List the validators that must succeed in `validationConditions`, or delete the validation step.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import find_conditionless
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R5",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for guard in find_conditionless(registry):
        yield Finding(guard.post_llm_at, f"validation step {quote(guard.key)} names no validator, so it checks nothing")
