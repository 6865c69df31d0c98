"""A gate reads a path that its output schema forbids.

## Why this matters
No answer that fits the schema can have anything there: the schema is closed and does not declare the member, the path
leads through something that is no object, or two parts of the schema ask for different types. The value is always
missing.

## How to fix
Correct the path, or declare the member in the output schema. Parts of a schema hold together: where `allOf` makes a
member a string, it cannot be an object beside it, so rename one of the two.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_broken_paths, rule


@rule(since="0.1", origin=("steps-registry:doc.R-D4", "rulings:R27"))
def check(registry: Registry) -> Iterator[Finding]:
    yield from report_broken_paths(registry, Presence.IMPOSSIBLE, "forbids")
