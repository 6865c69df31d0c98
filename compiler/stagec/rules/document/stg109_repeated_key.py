"""A key is written twice in one object.

## Why this matters
Most parsers keep the last value and drop the others without a word, so what its author sees is not what runs.

## How to fix
Keep one of the members, or give the later one the name it was meant to have.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_RELATED = {"first": "first written here", "again": "another key that is written twice"}


@rule(since="0.1", origin=("RFC8259-4",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("repeated-key"):
        name = fault.facts.get("key", fault.at.pointer[-1] if fault.at.pointer else "")
        related = tuple(Related(at, _RELATED[why]) for at, why in fault.related)
        yield Finding(fault.at, f"the key {quote(name)} is written twice in one object", related)
