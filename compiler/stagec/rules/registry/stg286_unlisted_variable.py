"""The frontmatter of a prompt lists variables, and not one that its step declares.

## Why this matters
Whoever reads the prompt takes the list in its frontmatter for all that it can use. Only the registry counts, so the two
should say the same.

## How to fix
Add the variable to `uvVariables` in the frontmatter, or delete that list.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_unlisted
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:uv.frontmatter-missing",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step, at, names in find_unlisted(registry):
        message = f"the prompt does not list {listing(names)}, which step {quote(step.key)} declares"
        yield Finding(at, message, (Related(step.at / "uvVariables", "what it declares"),))
