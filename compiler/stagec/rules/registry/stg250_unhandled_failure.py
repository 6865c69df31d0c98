"""A gate goes on when no intent can be read, but does not say with which.

## Why this matters
`failFast: false` keeps a run alive when the answer has no intent. Without `fallbackIntent` there is still nothing to
go on with, so the run ends all the same, only later and with a less helpful message.

## How to fix
Add a `fallbackIntent` out of `allowedIntents`, or delete `failFast`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.answers import has_member
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.failfast-prod", "rulings:R27"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is not None and not step.gate.fail_fast and not has_member(step, "fallbackIntent"):
            message = f"step {quote(step.key)} does not fail fast, but has no fallbackIntent to go on with"
            yield Finding(step.gate_at / "failFast", message)
