"""A validator names a failure pattern that does not exist.

## Why this matters
The failure pattern chooses the prompt with which a step is tried again. Without it the agent is told that it failed,
but not why.

## How to fix
Correct the spelling, or declare the pattern under `failurePatterns`.
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Registry, quote, rule, unknown


@rule(since="0.1", origin=("steps-registry:xref.failure-pattern",))
def check(registry: Registry) -> Iterator[Finding]:
    lost = (mention for mention in registry.pattern_mentions if mention.name not in registry.patterns)
    yield from unknown(lost, registry.patterns, lambda mention: f"there is no failure pattern {quote(mention.name)}")
