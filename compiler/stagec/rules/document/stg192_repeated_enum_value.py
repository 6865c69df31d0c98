"""A schema lists one value twice.

## Why this matters
The second mention allows nothing more. Most often another value was meant, which answers then cannot have.

## How to fix
Delete the second mention, or write the value that was meant.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:R2", "rulings:R20"), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("repeated-enum-value"):
        given, first = fault.facts["got"], fault.facts["first"]
        shown = quote(given) if isinstance(given, str) else "null" if given is None else str(given).lower()
        related = (Related(first, "the first"),) if isinstance(first, Place) else ()
        fix = Fix("remove the second", (Edit(Change.REMOVE, fault.at),))
        yield Finding(fault.at, f"this 'enum' lists {shown} twice", related, fix)
