"""A stage prints a marker of another stage.

## Why this matters

A process speaks for the stage that it runs and for no other. The marker of another stage is a copy from another script
most often, and makes the log say that a stage begins or ends which does not. This is checked where the running stage is
known: with `--stage`, and in runs.

## How to fix

Print the id of the stage that runs. `STAGEC_STAGE_ID` has it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.rules.markers import rule


@rule(since="0.1", origin=("stage-protocol:marker-stage-id-mismatch",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE")
    if marker is not None and marker.stage and line.stage is not None and not marker.is_of(line.stage):
        message = f"the marker names the stage {quote(marker.stage)}, but {quote(line.stage)} is running"
        yield Finding(line.find(marker.positional_stage or "id"), message)
