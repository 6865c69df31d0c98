"""A step has a kind that does not exist.

## Why this matters
The kind decides which intents a step may answer. A step of an unknown kind may answer none, and some runners stop
with an internal error.

## How to fix
Write `work`, `verification` or `closure`, or leave the member out: then the kind follows from `c2`.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:reg.stepkind-enum", "steps-registry:reg.step-types"))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unknown-step-kind")
