"""The value of a parameter is to be checked in a way that there is not.

## Why this matters
`validation` of a parameter knows `min`, `max`, `pattern` and `enum`. Anything else, mostly a misspelling of these, is
not looked at, and any value passes.

## How to fix
Write one of the four, or delete the member.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Severity, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:doc.R-F16",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unknown-parameter-check")
