"""A gate has a fallback intent that is never used.

## Why this matters
Under `failFast`, which holds unless it is set to `false`, a run ends when no intent can be read. The fallback intent
looks as if it caught that case, and does not.

## How to fix
Delete `fallbackIntent`, or set `failFast` to `false` when the run shall go on with it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Gate, Registry
from stagec.rules.registry import rule

_SHOWN = 3


@rule(
    since="0.1",
    origin=("steps-registry:doc.no-fallback-when-failfast", "steps-registry:beyond.dead-fields", "rulings:R14"),
    severity=Severity.NOTE,
)
def check(registry: Registry) -> Iterator[Finding]:
    found = [step for step in registry.steps.values() if step.gate is not None and _is_unused(step.gate)]
    if not found:
        return
    first, *others = found
    related = tuple(Related(each.gate_at / "fallbackIntent", "nor is this one") for each in others[:_SHOWN])
    message = f"steps {listing([step.key for step in found])} never use their fallback intents: they fail fast"
    if first.gate is not None and not others:
        message = f"step {quote(first.key)} never falls back to {quote(first.gate.fallback)}: it fails fast"
    yield Finding(first.gate_at / "fallbackIntent", message, related)


def _is_unused(gate: Gate) -> bool:
    return gate.fail_fast and gate.fallback in gate.allowed
