"""A gate lacks what it needs to read the intent of an answer.

## Why this matters
`intentField` is where the intent stands in an answer, `intentSchemaRef` where its values are listed in the schema,
and `allowedIntents` which of them count. Without one of them no answer can be routed (SR-VALID-002).

## How to fix
Add the members that the message names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:reg.gate-required", "steps-registry:gate.ref-missing", "steps-registry:gate.field-missing"),
)
