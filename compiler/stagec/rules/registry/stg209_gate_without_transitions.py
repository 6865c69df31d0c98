"""A step has a gate but no transitions.

## Why this matters
The gate turns an answer into an intent, and transitions say where each intent leads. Without them every answer but
`repeat` and `abort` ends in an error.

## How to fix
Add `transitions` with one entry for every allowed intent, or remove the gate.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule

_UNROUTED = {"repeat", "abort"}


@rule(since="0.1", origin=("steps-registry:step.gate-needs-transitions", "SR-VALID-004"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is None or "transitions" in step.body:
            continue
        needed = [intent for intent in step.gate.allowed if intent not in _UNROUTED]
        if needed:
            message = f"step {quote(step.key)} has a gate but no transitions, so nothing takes {listing(needed)}"
            related = (Related(step.allowed_at, "the intents that need one"),)
            yield Finding(step.at / "transitions", message, related)
