"""A validation condition names a validator that does not exist.

## Why this matters
The validators of a closure step decide whether a run may end. One that does not exist can neither pass nor fail.

## How to fix
Correct the spelling, or declare the validator under `validators`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_undeclared, rule


@rule(since="0.1", origin=("steps-registry:xref.condition-validator", "steps-registry:valid.validator-missing"))
def check(registry: Registry) -> Iterator[Finding]:
    mentions, names = registry.validator_mentions, registry.validators
    yield from report_undeclared(
        registry, "validators", mentions, names, lambda each: f"there is no validator {quote(each)}"
    )
