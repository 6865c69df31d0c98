"""A step lacks its id, or a coordinate of its prompt.

## Why this matters
`stepId` is how transitions name the step; `c2` and `c3` lead to its prompt. A step without them cannot be reached or
cannot be run.

## How to fix
Add the members. The id is the same as the step's key.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(
    since="0.1",
    origin=("steps-registry:reg.step-required", "steps-registry:step.c2-nonempty", "steps-registry:step.c3-nonempty"),
)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "incomplete-step")
