"""A REHYDRATED marker does not name the checkpoint that the run continues from.

## Why this matters

The marker exists to say which checkpoint a run continues from. Without it the log does not show which results are from
an earlier run.

## How to fix

Add `from=` with the id of the checkpoint: `[REHYDRATED:from=ckpt-S01_load_data]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.protocol.marked_line import MarkedLine
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-rehydrated-from",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("REHYDRATED")
    if marker is not None and not marker.attributes.get("from"):
        yield Finding(line.at, "the REHYDRATED marker has no 'from'")
