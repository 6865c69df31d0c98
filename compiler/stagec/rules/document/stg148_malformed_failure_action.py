"""What happens after a failed validation is not said, or cannot be done.

## Why this matters
`action` is `retry`, `abort` or `skip`, and `maxAttempts` bounds the failures. Without a known action, or with a bound
below one, the run neither goes on nor ends as meant.

## How to fix
Write one of the three actions, and a whole number of at least 1.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:reg.onfailure-action", "steps-registry:reg.onfailure-maxattempts"))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "malformed-failure-action")
