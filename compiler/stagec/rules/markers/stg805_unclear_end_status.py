"""The marker of a stage's end does not say how the stage has ended.

## Why this matters

Reports take an end without a status for a success. stagec decides by the process, but `status=failed` counts even if
the exit status is 0, and a status that nobody understands does not.

## How to fix

Add `status=success`, `status=failed` or `status=interrupted`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import END_STATUSES
from stagec.rules.markers import rule, suggest

_KNOWN = NameIndex(END_STATUSES)
_WANTED = "'success', 'failed' or 'interrupted'"


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-end-status",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE", "end")
    if marker is None:
        return
    status = marker.attributes.get("status")
    if status is None:
        yield Finding(line.at, f"the STAGE marker with 'end' has no 'status', which is {_WANTED}")
    elif status not in END_STATUSES:
        yield Finding(line.find("status"), f"a stage ends as {_WANTED}, not {quote(status)}{suggest(status, _KNOWN)}")
