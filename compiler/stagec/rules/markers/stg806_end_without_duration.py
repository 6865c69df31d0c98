"""The marker of a stage's end does not say how long the stage took.

## Why this matters

The duration is what shows that a stage comes near its limit, long before it exceeds it.

## How to fix

Add `duration=` with the seconds: `[STAGE:end:id=S01_load_data:status=success:duration=12.3s]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.protocol.marked_line import MarkedLine
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.NOTE, origin=("stage-protocol:marker-end-duration",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE", "end")
    if marker is not None and not marker.attributes.get("duration") and marker.positional_stage is None:
        yield Finding(line.at, "the STAGE marker with 'end' has no 'duration'")
