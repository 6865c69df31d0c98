"""A permission mode does not exist.

## Why this matters
The mode says what tools may do without asking. With an unknown one a run either does not start or asks where nobody
answers.

## How to fix
Write `default`, `plan`, `acceptEdits` or `bypassPermissions`.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:step.permission-mode",
        "steps-registry:agent.permission-mode",
        "steps-registry:reg.step-types",
    ),
)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unknown-permission-mode")
