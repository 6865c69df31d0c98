"""A YAML file holds more than one document.

## Why this matters
Only the first document of a file is read. What stands below the second `---` would be ignored without a word.

## How to fix
Put each document into its own file. If the `---` is meant as a separating line, write it as a comment.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("several-documents"):
        yield Finding(fault.at, "a second document begins here, and only the first one is read")
