"""A marker has a type that the protocol does not know.

## Why this matters

Tools that read markers keep such a line, but do not know what it means: no report shows it, and a misspelt `STAGE` or
`CHECKPOINT` says nothing to whoever waits for it. Each type is reported where it first stands in a log.

## How to fix

Use one of the forty types of the protocol, or write the line in another way if it is not meant as a marker: a marker is
a line that begins with capitals in brackets.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import CATEGORIES
from stagec.rules.markers import rule, suggest

_KNOWN = NameIndex(CATEGORIES)


@rule(since="0.1", severity=Severity.NOTE, origin=("stage-protocol:marker-unknown-type",))
def check(line: MarkedLine) -> Iterator[Finding]:
    kind = line.marker.type
    if line.is_first and kind not in CATEGORIES:
        yield Finding(line.at, f"no marker has the type {quote(kind)}{suggest(kind, _KNOWN)}")
