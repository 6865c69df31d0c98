"""A member of a step has a value of the wrong type.

## Why this matters
What has the wrong type is not read, so the step runs without it: without its variables, its input, or its
transitions.

## How to fix
Write a value of the type that the message names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:reg.step-types", "steps-registry:step.uv-array", "steps-registry:step.stdin-bool"),
)
