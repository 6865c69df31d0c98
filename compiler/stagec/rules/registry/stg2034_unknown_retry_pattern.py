"""`retry` of a step names a failure pattern that does not exist.

## Why this matters
`patternRef` names the failure pattern whose prompt follows a failure. climpt 1.14 refuses to start with a name that
leads to nothing. The pattern is looked for in `failurePatterns` of the registry, as the documents say.

## How to fix
Correct the name, or declare the failure pattern.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_unknown, rule


@rule(since="0.1", origin=("climpt-1.14:step.retry-pattern", "S7"))
def check(registry: Registry) -> Iterator[Finding]:
    named = [step.retry.pattern for step in registry.steps.values() if step.retry is not None]
    lost = [each for each in named if each is not None and each.name not in registry.patterns]
    yield from report_unknown(lost, registry.patterns, lambda each: f"there is no failure pattern {quote(each.name)}")
