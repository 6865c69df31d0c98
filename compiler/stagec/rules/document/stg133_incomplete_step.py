"""A step lacks its id, or a coordinate of its prompt.

## Why this matters
`stepId` is how transitions name the step; `c2` and `c3` lead to its prompt. A step without them cannot be reached or
cannot be run. In the format of climpt 1.14 a step also needs `name`, `kind` and `address`, and an address needs `c1`,
`c2`, `c3` and `edition`: nothing is inferred.

## How to fix
Add the members. The id is the same as the step's key.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.step-required",
        "steps-registry:step.c2-nonempty",
        "steps-registry:step.c3-nonempty",
        "steps-registry:prompt.c2",
        "steps-registry:prompt.c3",
        "climpt-1.14:step.name-nonempty",
    ),
)
