"""A validator names a failure pattern that does not exist.

## Why this matters
The failure pattern chooses the prompt with which a step is tried again. Without it the agent is told that it failed,
but not why.

## How to fix
Correct the spelling, or declare the pattern under `failurePatterns`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import report_undeclared, rule


@rule(since="0.1", origin=("steps-registry:xref.failure-pattern",))
def check(registry: Registry) -> Iterator[Finding]:
    mentions, names = registry.pattern_mentions, registry.patterns
    sentence = "there is no failure pattern {}".format
    yield from report_undeclared(registry, "failurePatterns", mentions, names, lambda each: sentence(quote(each)))
