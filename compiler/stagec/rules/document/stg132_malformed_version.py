"""A version is not written as three numbers.

## Why this matters
Programs compare versions number by number to decide whether they can read a file.

## How to fix
Write three numbers with dots between them, such as `1.0.0`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.version-semver",
        "steps-registry:agent.version",
        "steps-registry:step.version-nonempty",
    ),
)
