"""A required member is missing.

## Why this matters
An agent definition is read member by member; without one that is required the agent cannot be started, and stagec has
nothing to judge in its place.

## How to fix
Add the member. If a member nearby is named as the likely misspelling, correct its name.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:agent.required", "steps-registry:agent.schema", "steps-registry:agent.complete"),
)
