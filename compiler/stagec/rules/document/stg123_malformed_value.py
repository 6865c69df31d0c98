"""A text does not have the form that its member asks for.

## Why this matters
Names and options become folder names and command lines. A text of another form breaks where it is used, far from
where it is written.

## How to fix
Write the text in the form that the message describes.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:agent.name", "steps-registry:agent.param-cli", "steps-registry:agent.schema"),
)
