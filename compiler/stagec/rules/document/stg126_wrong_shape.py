"""A value has none of the shapes that its member allows.

## Why this matters
The member can be written in more than one way, and this is none of them. What was meant cannot be told, so it is not
read.

## How to fix
Write the value in one of the ways that the message describes.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:agent.schema",))
