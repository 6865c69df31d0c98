"""A gate's `intentField` and `intentSchemaRef` name different members of the answer.

## Why this matters
`intentSchemaRef` says which values the model may answer, `intentField` where the answer is read. When they part, the
values are checked at one place and the intent is taken from another, where anything may stand.

## How to fix
Make them name the same member: the field `next_action.action` belongs to the pointer
`#/properties/next_action/properties/action`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.answers import names_another_member
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:beyond.field-ref-agree", "steps-registry:beyond.closure-intentfield", "rulings:R13"),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is not None and names_another_member(step):
            read = f"step {quote(step.key)} reads its intent from {quote(step.gate.field)}"
            message = f"{read}, but {quote(step.gate.pointer)} describes another member"
            related = (Related(step.gate_at / "intentSchemaRef", "the pointer"),)
            yield Finding(step.gate_at / "intentField", message, related)
