"""A checkpoint lies where another one belongs.

## Why this matters

Its ids say that it is of another run, report or stage. A checkpoint that was copied there would make a stage count as
complete that this run has never executed.

## How to fix

Put it back where it belongs, or bring it in with `stagec checkpoint import`, which verifies it and marks its origin.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import name_member, place_of, rule

_OWN = "{run}/checkpoints/{checkpointId}.json"
_FOREIGN = "reports/{reportTitle}/checkpoints/{runId}/{checkpointId}/checkpoint.json"


@rule(since="0.1", origin=("stage-protocol:manifest-id-mismatch",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    for fault in checkpoint.about("misplaced-checkpoint"):
        at = place_of(checkpoint, fault)
        if fault.reason == "layout":
            yield Finding(at, f"such a manifest belongs at {quote(_OWN if fault.facts['native'] else _FOREIGN)}")
            continue
        found, expected = quote(fault.facts["found"]), quote(fault.facts["expected"])
        cause = "its path says" if fault.reason == "path" else "its stage demands"
        yield Finding(at, f"{name_member(fault.pointer)} is {found}, but {cause} {expected}")
