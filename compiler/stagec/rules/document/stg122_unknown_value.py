"""A member has a value that is none of those allowed.

## Why this matters
The runner knows a fixed set of values for this member. Any other is refused at the start, or falls through to a
default that nobody chose.

## How to fix
Write one of the values that the message lists.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:agent.verdict-type", "steps-registry:agent.logging", "steps-registry:agent.schema"),
)
