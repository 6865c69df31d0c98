"""A member of a step has a value of the wrong type, or has none although its type is required.

## Why this matters
What has the wrong type is not read, so the step runs without it: without its variables, its input, or its
transitions.

In the format of climpt 1.14 `uvVariables` and `usesStdin` are required: 1.13 took an empty list and `false` where they
were missing, 1.14 does not load the registry.

## How to fix
Write a value of the type that the message names: `[]` where a prompt needs no variables, `false` where it takes no
standard input.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:reg.step-types", "steps-registry:step.uv-array", "steps-registry:step.stdin-bool"),
)
