"""How it is told that a run cannot be begun or gone on with."""

from __future__ import annotations

from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.drivers.local import JournalError, Reason


def failed(name: str, error: JournalError) -> Failure:
    """Return what a user is told of a journal that cannot be used."""
    if error.reason is Reason.BUSY:
        return Failure(f"run {quote(name)} is being executed by another process; Ctrl-C interrupts it there")
    if error.reason is Reason.TAKEN:
        told = "'stagec resume' goes on with it, --run gives a new run another name"
        return Failure(f"there is a run {quote(name)} already: {told}")
    return Failure(f"run {quote(name)} cannot be used: {error}")
