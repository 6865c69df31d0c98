"""A gate's `intentSchemaRef` points at nothing, or at something that names no intents.

## Why this matters
The pointer leads to the list of intents that the model may answer. When it leads elsewhere, nobody can tell what the
model will answer, and nothing keeps it to the intents that the gate allows.

## How to fix
Point at the member of the output schema that holds the intent, for example
`#/properties/next_action/properties/action`, and give it an `enum` (or `const`, or `oneOf` of `const`).
"""

from collections.abc import Iterator

from stagec.rules.registry import Finding, Miss, Registry, Related, Schema, quote, rule


@rule(since="0.1", origin=("steps-registry:gate.ref-not-enum", "SR-VALID-003"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        output = step.output
        if output is None or output.choices is not Miss.NO_MEMBER or step.gate is None:
            continue
        at = step.at / "structuredGate" / "intentSchemaRef"
        pointer = quote(step.gate.pointer)
        if isinstance(output.pointed, Schema):
            message = f"step {quote(step.key)} takes its intents from {pointer}, which has no enum"
            yield Finding(at, message, (Related(output.pointed.at, "no values are named here"),))
        elif isinstance(output.found, Schema):
            message = f"step {quote(step.key)} takes its intents from {pointer}, which its output schema does not have"
            yield Finding(at, message, (Related(output.found.at, "the output schema"),))
