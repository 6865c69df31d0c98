"""A validation step lacks a member, or one of its conditions names no validator.

## Why this matters
The validation step guards the closure of a flow. What it does not name is not checked, and its retry prompts are not
found without `c2` and `c3`. In the format of climpt 1.14 these may be in an `address`, and both lists of conditions,
`preflightConditions` and `postLLMConditions`, are required; they may be empty.

## How to fix
Add the members that the message names; every condition has a `validator`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.validation-step-required",
        "steps-registry:reg.condition-validator-required",
        "climpt-1.14:valid.slot-array",
        "climpt-1.14:valid.address",
    ),
)
