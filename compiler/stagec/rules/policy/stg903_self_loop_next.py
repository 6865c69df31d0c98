"""A step goes on with itself by `next`.

## Why this matters
The documents allow it. Some runners warn of it: they expect `repeat` where a step runs again.

## How to fix
Answer `repeat` instead, or lead `next` to another step.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("steps-registry:flow.self-loop-next",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for move in step.moves:
            if move.intent == "next" and not move.is_fallback and move.target == step.key:
                yield Finding(step.place(move), f"step {quote(step.key)} leads to itself on 'next'")
