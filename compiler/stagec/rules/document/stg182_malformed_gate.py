"""The gate of a stage is not written as one.

## Why this matters
A gate says under which conditions on the context a stage is put off (`defer`) or not run (`block`). Written otherwise
it holds nothing back.

## How to fix
Write `defer`, `block` or both, each with conditions.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "malformed-gate")
