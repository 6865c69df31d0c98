"""A section has what only a step that runs can have.

## Why this matters
A section is a part of prompts: a step whose `c2` is `section` or whose name begins with `section.`. No run ever
enters it, so a gate, transitions, an output schema or a kind in it mean nothing.

## How to fix
Delete these members, or give the step the name and the `c2` of a phase.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.R-B11", "rulings:R18"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if not step.surplus:
            continue
        first, *others = step.surplus
        related = tuple(Related((step.at / member).key, "means nothing either") for member in others)
        message = f"step {quote(step.key)} is a section and cannot have {listing(step.surplus, 'or')}"
        yield Finding(step.at / first, message, related)
