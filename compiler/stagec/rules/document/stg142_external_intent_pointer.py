"""A gate looks for its intents outside the step's own schema.

## Why this matters
The pointer is followed inside the output schema of the step. One that begins with a file name, or without `#/`, leads
nowhere.

## How to fix
Write a pointer that begins with `#/`. Share definitions through `$ref` inside the schema.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.gate-ref-pattern",
        "steps-registry:gate.ref-internal",
        "steps-registry:gate.ref-missing",
    ),
)
