"""What a journal holds, and why one cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum

from stagec.core.value import NOTHING, value
from stagec.plan.load import PlanError, read_frame
from stagec.runtime.exchange import Event


class Reason(StrEnum):
    """Why a journal cannot be used, in a word."""

    MISSING = "missing"
    TAKEN = "taken"
    BUSY = "running"
    DAMAGED = "damaged"
    UNUSABLE = "unusable"


class JournalError(Exception):
    """A journal that cannot be used.

    `str()` says why, in a sentence without a full stop.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def damage_error(message: str) -> JournalError:
    """Return the error of a journal that is not what was written."""
    return JournalError(Reason.DAMAGED, f"its journal is damaged: {message}")


@value
class History:
    """What a journal holds: the plan's file and its digest, the events in order, and the step digest of each.

    `facts` are whatever was put beside the plan when the run began. A step digest is empty where none was written.
    """

    plan: bytes
    digest: str
    events: tuple[Event, ...] = ()
    step_digests: tuple[str, ...] = ()
    facts: Mapping[str, str] = NOTHING


def check_plan(plan: bytes, digest: str) -> None:
    """Refuse a plan that has another digest than the journal says."""
    with suppress(PlanError):
        if read_frame(plan)[0] == digest:
            return
    raise damage_error("its plan is not what was written")
