"""A member at the top of a step registry has a value of the wrong type.

## Why this matters
The steps, validators and failure patterns are looked up by name; in a list they have none. Texts of the wrong type
never match what they are compared with.

## How to fix
Write an object where things are looked up by name, and a string everywhere else.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:reg.type-top", "steps-registry:reg.entry-mapping-type", "steps-registry:step.steps-object"),
)
