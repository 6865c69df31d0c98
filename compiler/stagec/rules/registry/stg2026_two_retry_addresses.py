"""A validation step states two different places of its retry prompts.

## Why this matters
The schema of climpt 1.14 wants the coordinates of retry prompts in `address`, its program reads `c2` and `c3` of the
validation step itself. stagec reads both forms. Where both are there and differ, two different prompts are meant.

## How to fix
Make them equal, or delete one of them.
"""

from collections.abc import Iterator

from stagec.core.json import text_in
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:valid.address",))
def check(registry: Registry) -> Iterator[Finding]:
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        for name in ("c2", "c3"):
            flat, other = text_in(guard.body, name), text_in(guard.address.body, name)
            if "address" in guard.body and flat is not None and other is not None and flat != other:
                message = f"{quote(name)} of validation step {quote(guard.key)} is {quote(flat)}, but {quote(other)}"
                yield Finding(
                    guard.at / name, f"{message} in its address", (Related(guard.address.at / name, "in its address"),)
                )
