"""A member of a gate has a value of the wrong type.

## Why this matters
A gate that is misread routes wrongly: a text in place of a truth value counts as true, and a single text in place of
a list hands on its letters.

## How to fix
Write a value of the type that the message names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.gate-failfast-type",
        "steps-registry:gate.ref-missing",
        "steps-registry:gate.field-missing",
    ),
)
