"""A CHECKPOINT marker does not say what happens to the checkpoint.

## Why this matters

Whoever follows a run reads `saved`, `begin`, `end` and `emergency`, and passes over everything else: the checkpoint is
not seen.

## How to fix

Write `[CHECKPOINT:saved:id=CHECKPOINT:stage=ID]`, or one of the other three subtypes.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.protocol.marked_line import MarkedLine
from stagec.protocol.markers import CHECKPOINT_SUBTYPES
from stagec.rules.markers import describe_subtype, has_cut_subtype, rule, suggest

_KNOWN = NameIndex(CHECKPOINT_SUBTYPES)


@rule(since="0.1", severity=Severity.WARNING, origin=("stage-protocol:marker-checkpoint-subtype",))
def check(line: MarkedLine) -> Iterator[Finding]:
    marker = line.marker_of("CHECKPOINT")
    if marker is None or marker.subtype in CHECKPOINT_SUBTYPES or has_cut_subtype(line):
        return
    wanted = listing(CHECKPOINT_SUBTYPES, "or")
    end = suggest(marker.subtype or "", _KNOWN)
    yield Finding(
        line.at, f"a CHECKPOINT marker has the subtype {wanted}, this one has {describe_subtype(marker)}{end}"
    )
