"""A text contains half of a surrogate pair.

## Why this matters
Characters beyond U+FFFF are written as two escapes that belong together. One alone is no character: it cannot be
stored, printed or sent, and a program that tries fails at that point.

## How to fix
Write the missing half, or the character itself.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("RFC8259-8.2",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("lone-surrogate"):
        found = f"the escape {quote(fault.facts['escape'])}" if "escape" in fault.facts else "this escape"
        yield Finding(fault.at, f"{found} is half of a surrogate pair and no character by itself")
