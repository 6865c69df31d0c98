"""A closure step that polls has conditions after the answer.

## Why this matters
A closure step whose `c3` is `polling` only looks whether a state has been reached. climpt 1.14 refuses to start an
agent in which `retry` of such a step has `postLLMConditions`.

## How to fix
Delete `postLLMConditions` of the step, or check the conditions in another closure step.
"""

from collections.abc import Iterator

from stagec.core.json import list_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, StepKind
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.polling-conditions", "A8"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        polls = step.kind is StepKind.CLOSURE and step.address.c3 == "polling"
        if polls and step.retry is not None and list_of(step.retry.body.get("postLLMConditions")):
            at = step.retry.at / "postLLMConditions"
            yield Finding(at, f"closure step {quote(step.key)} polls, and may have no 'postLLMConditions'")
