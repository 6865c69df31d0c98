"""A STAGE marker does not say that a stage begins, ends or goes on.

## Why this matters

Whoever follows a run reads `begin`, `end` and `progress`, and passes over everything else. Scripts written for other
tools print `[STAGE:status:success]` and `[STAGE:time:120]`: what these say is part of the marker of the end.

## How to fix

Write `[STAGE:begin:id=ID]`, `[STAGE:progress:id=ID:pct=50]` or `[STAGE:end:id=ID:status=success:duration=12s]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import STAGE_SUBTYPES
from stagec.rules.markers import describe_subtype, has_cut_subtype, rule, suggest

_KNOWN = NameIndex(STAGE_SUBTYPES)
_INSTEAD = {
    "status": "; the marker of the end has it: 'status=success'",
    "time": "; the marker of the end has it: 'duration=12s'",
}
"""What scripts for other tools print as markers of their own."""


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-stage-subtype",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE")
    if marker is None or marker.subtype in STAGE_SUBTYPES or has_cut_subtype(line):
        return
    given = marker.subtype or ""
    end = _INSTEAD.get(given) or suggest(given, _KNOWN)
    message = (
        f"a STAGE marker has the subtype 'begin', 'end' or 'progress', this one has {describe_subtype(marker)}{end}"
    )
    yield Finding(line.at, message)
