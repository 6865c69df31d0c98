"""A step chooses a model.

## Why this matters
The documents let a step choose. Some runners never read it and use the same model for all steps.

## How to fix
Do not rely on it where such a runner is used, or choose the model for the whole agent.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("steps-registry:doc.model",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if "model" in step.body:
            yield Finding((step.at / "model").key, f"step {quote(step.key)} chooses a model, which some runners ignore")
