"""A parameter of an agent lacks its option, its type or its description.

## Why this matters
The command line is made from the parameters. Without an option a parameter cannot be given, without a type its value
cannot be read, and without a description nobody knows what it is for.

## How to fix
Add `cli`, such as `--issue`, `type` and `description`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:agent.param-cli",
        "steps-registry:agent.param-type",
        "steps-registry:agent.param-description",
    ),
)
