"""A member of a step has a value of the wrong type.

## Why this matters
What has the wrong type is not read, so the step runs without it: without its variables, its input, or its
transitions.

## How to fix
Write a value of the type that the message names.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(
    since="0.1",
    origin=("steps-registry:reg.step-types", "steps-registry:step.uv-array", "steps-registry:step.stdin-bool"),
)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "mistyped-step-member")
