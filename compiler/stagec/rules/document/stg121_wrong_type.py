"""A member has a value of the wrong type.

## Why this matters
A number where a text is expected, or a text where a list is expected, is read as something else or not at all,
depending on the program that reads it.

## How to fix
Write a value of the type that the message names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:agent.schema", "steps-registry:agent.registry-path-type", "steps-registry:agent.complete"),
)
