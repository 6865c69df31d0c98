"""A CHECKPOINT marker lacks what its reader needs, or gives a reason that nobody knows.

## Why this matters

Without the id nobody finds the checkpoint. A saved one also needs its stage, and the end of one its status. One that
was written in an emergency needs the reason, on which it depends whether the stage may start again.

## How to fix

Add `id=` to every marker, `stage=` to those of saved checkpoints, `status=success` or `status=failed` to those of ends,
and `reason=timeout`, `reason=abort` or `reason=error` to those of emergencies. `watchdog_timeout` and `manual_abort`
are understood too.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import CHECKPOINT_SUBTYPES, REASONS
from stagec.rules.markers import rule, suggest

_KNOWN = NameIndex(REASONS)
_NEEDED = {"saved": ("id", "stage"), "end": ("id", "status"), "emergency": ("id", "reason")}


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-checkpoint-attrs",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("CHECKPOINT", *CHECKPOINT_SUBTYPES)
    if marker is None:
        return
    missing = [name for name in _NEEDED.get(marker.subtype or "", ("id",)) if not marker.attributes.get(name)]
    if missing:
        yield Finding(
            line.at, f"the CHECKPOINT marker with {quote(marker.subtype)} has no {listing(missing, 'and no')}"
        )
    reason = marker.attributes.get("reason")
    if reason and reason not in REASONS:
        message = f"the reason is 'timeout', 'abort' or 'error', not {quote(reason)}{suggest(reason, _KNOWN)}"
        yield Finding(line.find("reason"), message)
