"""The value of an attribute has a colon or a bracket in it and is cut there.

## Why this matters

Every `:` separates attributes, and the first `]` ends the marker; nothing can escape them. The rest of the value
becomes an attribute of its own, or text behind the marker, and readers see the first part only. Times, addresses and
paths with a drive are cut most often.

## How to fix

Put free text behind the bracket: `[STAGE:progress:id=ID:pct=50] Loading rows: 50 of 100`. Write other values without
`:`, `[` and `]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine, MarkerPart
from stagec.protocol.markers import CATEGORIES
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-value-unsafe",))
def check(line: MarkedLine) -> Iterator[Finding]:
    if line.marker.type not in CATEGORIES:
        return
    for first, last in _find_values(line.parts):
        end = ":" if first is not last else "]" if "[" in (first.text or "") else ""
        if end:
            message = f"the value of {quote(first.name)} ends at its first '{end}' and is read as {quote(first.text)}"
            yield Finding(line.place(first, last), message)


def _find_values(parts: tuple[MarkerPart, ...]) -> Iterator[tuple[MarkerPart, MarkerPart]]:
    """Yield the first and the last part of every value, as it was most likely meant."""
    values: list[list[MarkerPart]] = []
    for each in parts:
        if each.continues:
            values[-1].append(each)
        elif each.text is not None:
            values.append([each])
    return ((found[0], found[-1]) for found in values)
