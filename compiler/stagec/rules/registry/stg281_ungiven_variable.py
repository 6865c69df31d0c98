"""A step needs a parameter that no run has to be given, and there is no default.

## Why this matters
A step cannot start while one of its variables has no text. A parameter that is neither required nor has a default is
not there when the caller leaves it out, and so is one whose default is the empty text.

## How to fix
State `"required": true`, or give the parameter a `default` that says something. With `"required": false` the caller
has to give it all the same, and only a warning says so (`STG282`).
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_optional
from stagec.rules.registry import describe_optional, relate_optional, rule


@rule(
    since="0.1",
    origin=("steps-registry:uv.optional-no-default", "steps-registry:prompt.missing-uv", "PR-RESOLVE-003"),
)
def check(registry: Registry) -> Iterator[Finding]:
    for each in find_optional(registry):
        if not each.is_stated:
            yield Finding(each.at, describe_optional(each), relate_optional(each))
