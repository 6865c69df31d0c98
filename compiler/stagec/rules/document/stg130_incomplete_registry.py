"""A step registry lacks one of the members that every registry has.

## Why this matters
`agentId` and `version` say whose registry it is, `c1` is the first part of every prompt's path, and `steps` is the
flow itself. Without any of them nothing can be run.

## How to fix
Add the members. `"c1": "steps"` is what nearly every registry has.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.required-top",
        "steps-registry:step.steps-object",
        "steps-registry:boot.required-fields",
    ),
)
