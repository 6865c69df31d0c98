"""A step needs a parameter that is said to be optional, and there is no default.

## Why this matters
A step cannot start while one of its variables has no text. stagec asks for the parameter when a run starts, although
the agent says that it can be left out; another runner starts without it and fails when it comes to the step.

## How to fix
State `"required": true`, or give the parameter a `default` that says something.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_optional
from stagec.rules.registry import describe_optional, relate_optional, rule


@rule(since="0.1", origin=("steps-registry:uv.optional-no-default",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for each in find_optional(registry):
        if each.is_stated:
            yield Finding(each.at, f"{describe_optional(each)}: every run has to be given it", relate_optional(each))
