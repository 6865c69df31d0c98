"""A gate reads a path that its output schema does not declare.

## Why this matters
The schema is open there, so an answer may have the member, but nothing asks the model for it. A value that comes only
by chance is missing when the next step needs it; often the path is only misspelt.

Or the step's own schema declares the member, and one of its `allOf` declares it otherwise. By JSON Schema both hold,
and nothing can be there. climpt merges them: what the step says itself is put in place of what its bases say.

## How to fix
Correct the path, or declare the member in the output schema, and require it.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_broken_paths, rule


@rule(since="0.1", origin=("steps-registry:doc.R-D4", "rulings:R27"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    yield from report_broken_paths(registry, Presence.UNDECLARED, "does not declare")
    yield from report_broken_paths(registry, Presence.IMPOSSIBLE, "never has", merged=True)
