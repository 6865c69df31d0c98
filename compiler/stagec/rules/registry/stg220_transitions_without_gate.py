"""A step has transitions but no gate, although other steps of the registry have one.

## Why this matters
The gate turns an answer into an intent, and an intent chooses the transition. In a registry with gates an agent does
not start while one of its routed steps has none.

## How to fix
Give the step a `structuredGate`, or remove its transitions.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:boot.flow-steps-incomplete", "steps-registry:doc.R-B6", "SR-GATE-003"),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.gateless:
        gated = next(each for each in registry.steps.values() if each.gate is not None)
        message = f"step {quote(step.key)} has transitions but no gate, so no answer can take them"
        yield Finding(step.gate_at, message, (Related(gated.gate_at, f"step {quote(gated.key)} has one"),))
