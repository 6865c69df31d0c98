"""A validation condition names a validator that does not exist.

## Why this matters
The validators of a closure step decide whether a run may end. One that does not exist can neither pass nor fail.

## How to fix
Correct the spelling, or declare the validator under `validators`.
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Registry, quote, rule, unknown


@rule(since="0.1", origin=("steps-registry:xref.condition-validator",))
def check(registry: Registry) -> Iterator[Finding]:
    lost = (mention for mention in registry.validator_mentions if mention.name not in registry.validators)
    yield from unknown(lost, registry.validators, lambda mention: f"there is no validator {quote(mention.name)}")
