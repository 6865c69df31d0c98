"""A version is no semantic version.

## Why this matters
Programs compare versions number by number to decide whether they can read a file. Semantic Versioning 2.0.0 says which
texts are versions: `01.0.0` is none.

## How to fix
Write three numbers without leading zeros and with dots between them, such as `1.0.0`. A suffix such as `-beta.1` or
`+build.7` may follow.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.version-semver",
        "steps-registry:agent.version",
        "steps-registry:step.version-nonempty",
        "rulings:T6",
    ),
)
