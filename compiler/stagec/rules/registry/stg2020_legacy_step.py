"""A step of a registry of climpt 1.14 has members of the format of 1.13.

## Why this matters
climpt 1.14 calls the kind of a step `kind`, and has the coordinates of its prompt in `address`. It refuses a registry
in which a step still has `stepKind`, `c2`, `c3`, `edition` or `adaptation`, even beside the new members.

## How to fix
Rename `stepKind` to `kind`, and move the coordinates into `address`, together with `c1` of the registry. `edition` was
`default` where it was absent, and is required now.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:reg.legacy-step", "SR-VALID-005"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.legacy:
            said = f"has {listing(step.legacy)} of the format of 1.13, which 1.14 refuses"
            yield Finding((step.at / step.legacy[0]).key, f"step {quote(step.key)} {said}")
