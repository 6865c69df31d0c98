"""A step that cannot repeat itself has an adaptation chain.

## Why this matters
The chain lists the adaptations that repeats of the step use. The gate does not allow `repeat`, so it is never read.

## How to fix
Delete `adaptationChain`, or allow `repeat`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Intent, Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-idle",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        repeats = step.gate is None or Intent.REPEAT in step.gate.allowed
        if step.adaptation_chain is not None and not repeats and not step.is_section:
            at = (step.at / "adaptationChain").key
            yield Finding(at, f"step {quote(step.key)} has an 'adaptationChain', but does not allow 'repeat'")
