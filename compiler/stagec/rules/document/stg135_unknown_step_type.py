"""A step has a type that does not exist.

## Why this matters
There is one type of step, `prompt`. A step of any other is refused before the run begins.

## How to fix
Write `prompt`, or leave the member out.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:reg.step-type-enum", "steps-registry:reg.step-types"))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unknown-step-type")
