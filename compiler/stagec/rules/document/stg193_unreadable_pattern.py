"""A validator looks for a regular expression that cannot be read.

## Why this matters
What cannot be read matches nothing. The validator would fail every time, and no plan can be made of it.

## How to fix
Correct the regular expression; the engine is that of JSON Schema. To look for brackets and other signs as they
are, write a backslash before each, or use `contains:`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:beyond.success-when", "steps-registry:doc.success-when"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("unreadable-pattern"):
        yield Finding(fault.at, f"the regular expression {quote(fault.facts['got'])} cannot be read")
