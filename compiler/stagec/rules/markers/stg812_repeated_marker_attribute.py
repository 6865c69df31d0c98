"""A marker gives an attribute twice.

## Why this matters

The later value counts, whatever the first one says; other readers may take the first.

## How to fix

Remove one of them.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import CATEGORIES
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-duplicate-attr",))
def check(line: MarkedLine) -> Iterator[Finding]:
    seen: set[str] = set()
    for each in line.parts if line.marker.type in CATEGORIES else ():
        if each.text is None or each.continues:
            continue
        if each.name in seen:
            yield Finding(line.place(each), f"the attribute {quote(each.name)} is given again, and this value counts")
        seen.add(each.name)
