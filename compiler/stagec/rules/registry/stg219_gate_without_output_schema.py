"""A step has a gate but no output schema.

## Why this matters
The gate reads an intent from the step's answer. Without an output schema nothing makes the model answer in a shape
that holds one.

## How to fix
Add `outputSchemaRef` with the file and the name of a schema that holds the gate's `intentField`.
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
    for step in registry.steps.values():
        if step.gate is not None and "outputSchemaRef" not in step.body:
            message = f"step {quote(step.key)} has a gate but no output schema from which it could read an intent"
            yield Finding(step.at / "outputSchemaRef", message, (Related(step.gate_at, "the gate"),))
