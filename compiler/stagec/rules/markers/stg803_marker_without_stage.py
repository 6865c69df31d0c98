"""A STAGE marker does not name its stage by `id=`.

## Why this matters

Without the id nobody can tell which stage begins, ends or goes on, as soon as two stages write to one log. A name that
stands alone, as in `[STAGE:begin:load_data]`, is read as the id, but other tools do not do so.

## How to fix

Add `id=` with the id of the stage: `[STAGE:begin:id=S01_load_data]`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import STAGE_SUBTYPES
from stagec.rules.markers import rule


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-stage-id-missing",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("STAGE", *STAGE_SUBTYPES)
    if marker is None or marker.attributes.get("id"):
        return
    name = marker.positional_stage
    if name is not None:
        yield Finding(line.find(name), f"the stage {quote(name)} is named by position; write {quote(f'id={name}')}")
    else:
        yield Finding(line.at, f"the STAGE marker with {quote(marker.subtype)} has no 'id'")
