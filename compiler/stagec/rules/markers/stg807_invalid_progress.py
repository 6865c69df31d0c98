"""The marker of a stage's progress has no message, or no percentage between 0 and 100.

## Why this matters

A display of progress can show nothing for such a marker, or shows nonsense. The protocol requires both attributes.

## How to fix

Write `pct=` with a number between 0 and 100, without `%`, and `msg=` with a short text without `:` and `]`. Longer text
belongs behind the bracket.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.protocol.marked_line import MarkedLine
from stagec.rules.markers import NUMBER, rule

_MOST = 100


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-progress-pct",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE", "progress")
    if marker is None:
        return
    missing = [name for name in ("pct", "msg") if name not in marker.attributes]
    if missing:
        yield Finding(line.at, f"the STAGE marker with 'progress' has no {listing(missing, 'and no')}")
    given = marker.attributes.get("pct")
    if given is not None and (NUMBER.fullmatch(given) is None or not 0 <= float(given) <= _MOST):
        yield Finding(line.find("pct"), f"'pct' is a number between 0 and 100, not {quote(given)}")
