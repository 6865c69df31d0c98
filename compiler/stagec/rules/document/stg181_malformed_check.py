"""A check of a stage's work is not written as one.

## Why this matters
The first check whose `when` matches decides what becomes of the result: `retry` or `fail`. Without a verdict it
decides nothing, and a result that no check catches is accepted without one saying so.

## How to fix
Write a list of checks, each with a `verdict` of `retry` or `fail`.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "malformed-check")
