"""A gate's fallback intent is none of the intents it allows.

## Why this matters
`fallbackIntent` is what a step is taken to have answered when no intent can be read from its answer. An intent that
the gate or the step's kind does not allow cannot stand in for anything.

## How to fix
Choose one of `allowedIntents`, or delete the fallback: without `failFast: false` it is never used.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import find_known_elsewhere
from stagec.frontends.registry.document import INTENTS, Intent, Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:step.kind-fallback-intent", "rulings:R14", "SR-VALID-001"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        gate = step.gate
        if gate is None or gate.fallback not in INTENTS or gate.fallback in gate.allowed or not gate.allowed:
            continue
        if gate.fallback != Intent.ABORT and gate.fallback in find_known_elsewhere(step):
            continue  # then the gate's list is at fault, and that is told
        at = step.at / "structuredGate" / "fallbackIntent"
        message = f"step {quote(step.key)} falls back to {quote(gate.fallback)}, but allows only"
        related = (Related(step.allowed_at, "the intents it allows"),)
        yield Finding(at, f"{message} {listing(gate.allowed)}", related)
