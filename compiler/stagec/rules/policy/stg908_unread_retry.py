"""A step has `retry`, which no runner reads.

## Why this matters
climpt 1.14 checks the member when it starts, and never acts on it: nothing is tried again because of it.

## How to fix
Guard the step by a validation step, whose `onFailure` is read.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("climpt-1.14:step.retry-unread",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.retry is not None:
            yield Finding(step.retry.at.key, f"step {quote(step.key)} has a 'retry', which no runner reads")
