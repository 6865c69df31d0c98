"""A permission mode does not exist.

## Why this matters
The mode says what tools may do without asking. With an unknown one a run either does not start or asks where nobody
answers.

## How to fix
Write `default`, `plan`, `acceptEdits` or `bypassPermissions`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:step.permission-mode",
        "steps-registry:agent.permission-mode",
        "steps-registry:reg.step-types",
    ),
)
