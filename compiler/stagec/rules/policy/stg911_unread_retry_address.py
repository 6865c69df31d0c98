"""A validation step has its coordinates in an address.

## Why this matters
The schema of climpt 1.14 wants them there, and its released agents have them there. Its program reads `c2` and `c3`
of the validation step itself, and looks for retry prompts in `undefined/undefined`.

## How to fix
Write `c2` and `c3` beside `address`, with the same values.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.policy import rule


@rule(since="0.1", origin=("climpt-1.14:valid.address",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if "address" in guard.body and not {"c2", "c3"} <= guard.body.keys():
            message = f"climpt 1.14.0 does not read the address of validation step {quote(guard.key)}"
            yield Finding((guard.at / "address").key, message)
