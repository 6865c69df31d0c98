"""The agent, the version or the first coordinate of a registry is empty.

## Why this matters
An empty agent id or `c1` becomes an empty part of a path, so prompts are looked for in the wrong folder; an empty
version cannot be compared (SR-VALID-004).

## How to fix
Write the agent's id, a version such as `1.0.0`, and the folder of the prompts, mostly `steps`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:step.agentid-nonempty",
        "steps-registry:step.c1-nonempty",
    ),
)
