"""A gate has a target mode that does not exist.

## Why this matters
The mode says what decides where an intent leads: the transitions, the answer, or a condition. With an unknown mode
nothing decides.

## How to fix
Write `explicit`, `dynamic` or `conditional`, or leave the member out: then it is `explicit`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__, since="0.1", origin=("steps-registry:reg.gate-targetmode-enum", "steps-registry:reg.gate-failfast-type")
)
