"""A prompt says nothing.

## Why this matters
The model is asked for an answer and not told what to do; it makes something up that fits the schema.

## How to fix
Write the prompt below the frontmatter, or let the step use another one.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R16",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for at in registry.prompts.blank:
        yield Finding(at, "this prompt says nothing: there is no text below its frontmatter")
