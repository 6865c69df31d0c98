"""A value has none of the shapes that its member allows.

## Why this matters
The member can be written in more than one way, and this is none of them. What was meant cannot be told, so it is not
read.

## How to fix
Write the value in one of the ways that the message describes.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("steps-registry:agent.schema",))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "wrong-shape")
