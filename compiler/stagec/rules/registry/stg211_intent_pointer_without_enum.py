"""A gate's `intentSchemaRef` points at nothing, or at something that names no intents.

## Why this matters
The pointer leads to the list of intents that the model may answer. When it leads elsewhere, nobody can tell what the
model will answer, and nothing keeps it to the intents that the gate allows.

## How to fix
The diagnostic stands at the schema when `intentField` names the same member as the pointer, else at the pointer.
Point at the member of the output schema that holds the intent, for example
`#/properties/next_action/properties/action`, and give it an `enum` (or `const`, or `oneOf` of `const`).
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss, Schema, absent
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.agreement import offers_no_intent
from stagec.frontends.registry.document import Gate, OutputSchema, Registry
from stagec.rules.registry import rule
from stagec.sources.shape.subschemas import tokens


@rule(since="0.1", origin=("steps-registry:gate.ref-not-enum", "SR-VALID-003"))
def check(registry: Registry) -> Iterator[Finding]:
    told: set[Place] = set()
    for step in registry.steps.values():
        output, gate = step.output, step.gate
        if output is None or gate is None or not isinstance(output.found, Schema):
            continue
        if output.choices is not Miss.NO_MEMBER and not offers_no_intent(step):
            continue
        here, there = step.gate_at / "intentSchemaRef", _part(output, output.found, gate)
        first, second = (there, here) if gate.points_at_field else (here, there)
        if first not in told:
            told.add(first)
            message = f"step {quote(step.key)} takes its intents from {quote(gate.pointer)}, which {_lack(output)}"
            related = (Related(second, "the pointer" if second == here else "what it points at"),)
            yield Finding(first, message, related, causes=(there,))


def _part(output: OutputSchema, found: Schema, gate: Gate) -> Place:
    if isinstance(output.pointed, Schema):
        return output.pointed.at
    return absent(found, tokens(gate.pointer or ""))


def _lack(output: OutputSchema) -> str:
    if output.choices is not Miss.NO_MEMBER:
        return "names other values than intents"
    return "has no enum" if isinstance(output.pointed, Schema) else "its output schema does not have"
