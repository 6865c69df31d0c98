"""A failure pattern lacks what leads to its retry prompt, or says it in the wrong type.

## Why this matters
When a validator fails, its failure pattern chooses the prompt with which the work is retried. Without an edition
there is no prompt to retry with.

## How to fix
Give the pattern a `description` and an `edition`; `params` is a list of names.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:reg.failurepattern-required",))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "malformed-failure-pattern")
