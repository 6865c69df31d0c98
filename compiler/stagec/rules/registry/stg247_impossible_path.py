"""A gate reads a path that its output schema forbids.

## Why this matters
No answer that fits the schema can have anything there: the schema is closed and does not declare the member, or the
path leads through something that is no object. The value is always missing.

## How to fix
Correct the path, or declare the member in the output schema.
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Presence, Registry, broken_path, is_settled, readings, rule


@rule(since="0.1", origin=("steps-registry:doc.R-D4", "rulings:R27"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for each in readings(step):
            if each.promised.presence is Presence.IMPOSSIBLE and not is_settled(registry, step, each):
                yield broken_path(step, each, "forbids")
