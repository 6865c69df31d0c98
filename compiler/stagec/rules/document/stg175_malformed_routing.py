"""What runs after a stage is not written in a way that can be read.

## Why this matters
`next` holds the id of a stage, a route with `stages`, or a list of cases, each a route with a `when`. From anything
else it cannot be told where the run goes on.

## How to fix
Write one of the three. A route has exactly one of `stages`, its other name `nextStages`, and `terminate: true`, which
is the same as `stages: []`.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("rulings:pipelines", "stage-definitions:execution-enum"))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "malformed-routing")
