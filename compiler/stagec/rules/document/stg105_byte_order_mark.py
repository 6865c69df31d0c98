"""A file begins with a byte order mark.

## Why this matters
The mark says nothing in UTF-8, and many programs take it for a character of the text: strict JSON parsers refuse the
file, and the first line of a Markdown file no longer opens its frontmatter.

## How to fix
Save the file as "UTF-8", not as "UTF-8 with BOM".
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("RFC 8259 section 8.1",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("byte-order-mark"):
        fix = Fix("remove it", (Edit(Change.REMOVE, fault.at),))
        yield Finding(fault.at, "file begins with a byte order mark, which UTF-8 does not need", fix=fix)
