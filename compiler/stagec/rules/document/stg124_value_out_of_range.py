"""A number is smaller or larger than its member allows.

## Why this matters
A limit of zero or less ends a run before its first step, or is ignored; either way the run is not bounded as its
author meant.

## How to fix
Write a number within the limits that the message names.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:agent.schema", "steps-registry:doc.R-F20"))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "value-out-of-range")
