"""`retry` of a step names a failure pattern of the registry.

## Why this matters
The documents of climpt have failure patterns in the registry. The start of climpt 1.14.0 looks for them in
`agent.json`, where its own schema allows none, and refuses every agent in which `patternRef` is written.

## How to fix
Delete `patternRef` to start the agent with climpt 1.14.0.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("climpt-1.14:step.retry-pattern", "S7"), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        pattern = step.retry.pattern if step.retry is not None else None
        if pattern is not None and pattern.name in registry.patterns:
            message = f"climpt 1.14.0 does not look for failure pattern {quote(pattern.name)} in the registry"
            yield Finding(pattern.at, message)
