"""What becomes of runs whose segments have failed, or that a worker cannot execute: they go on a little later."""

from __future__ import annotations

from stagec.drivers.dbos.run_records import RunPhase, RunRecord
from stagec.drivers.dbos.settlements import Settlement
from stagec.drivers.dbos.transitions import Transitions

_FAILURES = 8
"""Segments in a row that may fail before a person has to look at a run."""
_SOONEST, _LATEST = 2_000, 60_000
"""Milliseconds after which a run is offered again that a worker has given back: at first, and at last."""


def give_back(record: RunRecord, reason: str) -> Settlement:
    """Return how a run stands that goes on a little later, and later each time."""
    delay = min(_LATEST, _SOONEST * 2 ** min(record.refusals, 10))
    return Settlement(RunPhase.WAITING, reason, delay=delay, is_refusal=True)


def settle_broken(transitions: Transitions) -> None:
    """Settle the segments that the engine has given up."""
    for record in transitions.list_broken(("ERROR",)):  # the database failed, and the engine with it
        again, reason = record.refusals < _FAILURES, "its segment has failed"
        transitions.settle(record, give_back(record, reason) if again else Settlement(RunPhase.INTERRUPTED, reason))
    for record in transitions.list_broken(("CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")):
        reason = "the engine has abandoned it: its workers have died"
        transitions.settle(record, Settlement(RunPhase.INTERRUPTED, reason))
