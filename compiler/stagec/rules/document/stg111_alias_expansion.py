"""Aliases stand for too much, or for themselves.

## Why this matters
Ten lines of YAML can stand for a billion values when each line refers several times to the one above. Such a file is
refused, not expanded.

## How to fix
Write out what is meant, or refer to it less often.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("alias-expansion"):
        alias = quote(f"*{fault.facts['alias']}")
        if fault.reason == "recursive":
            yield Finding(fault.at, f"{alias} stands inside the very value it refers to")
        else:
            limit = fault.facts["limit"]
            yield Finding(fault.at, f"with {alias}, aliases stand for more than the {limit:,} values allowed")
