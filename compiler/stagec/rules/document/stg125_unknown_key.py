"""A member has a name that the format does not know.

## Why this matters
Nothing reads the member. Most often it is a misspelt name, and the member that was meant silently takes its default.

## How to fix
Correct the name, or remove the member. Remarks can be kept under `comment`, or under a name that begins with `$`, `_`
or `x-`.
"""

from stagec.core.diagnostic import Severity
from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:agent.unknown-top-key",
        "steps-registry:agent.schema",
        "steps-registry:beyond.unknown-keys",
        "climpt-1.14:wf.unknown-key",
    ),
    severity=Severity.WARNING,
)
