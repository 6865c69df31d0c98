"""Objects and arrays are nested too deep.

## Why this matters
No document of a workflow needs that many levels, and many programs crash on them, so the file is not read at all.

## How to fix
Flatten the document, or raise the `depth` budget in the configuration when the nesting is meant.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("RFC8259-9",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("deep-nesting"):
        limit = fault.facts["limit"]
        yield Finding(fault.at, f"objects and arrays are nested deeper than the {limit} levels allowed")
