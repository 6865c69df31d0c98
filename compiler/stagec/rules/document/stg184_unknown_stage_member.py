"""A stage object has a member that the format does not know.

## Why this matters
Programs that read stage objects refuse the whole stage over it. In Markdown such a member would be metadata.

## How to fix
Correct the name or remove the member. What stagec alone knows of a stage, such as checks, gates and hooks, is written
in the pipeline.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(since="0.1", origin=("stage-definitions:unknown-key",))
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unknown-stage-member")
