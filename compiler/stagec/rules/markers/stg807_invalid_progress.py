"""The marker of a stage's progress has no percentage between 0 and 100.

## Why this matters

A display of progress can show nothing for such a marker, or shows nonsense.

## How to fix

Write `pct=` with a number between 0 and 100, without `%`. A text belongs behind the bracket.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.rules.markers import NUMBER, rule

_MOST = 100


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-progress-pct",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE", "progress")
    if marker is None:
        return
    given = marker.attributes.get("pct")
    if given is None:
        yield Finding(line.at, "the STAGE marker with 'progress' has no 'pct'")
    elif NUMBER.fullmatch(given) is None or not 0 <= float(given) <= _MOST:
        yield Finding(line.find("pct"), f"'pct' is a number between 0 and 100, not {quote(given)}")
