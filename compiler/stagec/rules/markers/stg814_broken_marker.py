"""A line begins like a marker and is none.

## Why this matters

A marker is one line: `[`, a type, attributes without `]`, and `]`. If the closing bracket is missing, because a value
has a line feed in it, or if a carriage return stands in the text behind it, readers see an ordinary line: a stage
that has ended does not seem to end.

## How to fix

Print the marker in one piece, without line feeds and carriage returns in it, and end the line behind it. Progress bars
that return to the beginning of the line belong on another stream.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import BrokenMarker
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-value-unsafe",))
def check(line: MarkedLine) -> Iterator[Finding]:
    if isinstance(line.marker, BrokenMarker):
        yield Finding(line.at, f"the line begins like a {line.marker.type} marker, but {_explain(line.marker)}")


def _explain(marker: BrokenMarker) -> str:
    if "]" not in marker.text:
        return "has no ']'"
    if "\r" in marker.text.partition("]")[2]:
        return "a carriage return stands behind its ']'"
    return "what stands in its brackets is not a type and attributes"
