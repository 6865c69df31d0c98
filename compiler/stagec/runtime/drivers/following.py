"""The interface for followers of a run, the same for every driver: what is new, and how the run stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from math import ceil
from typing import Protocol

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.runtime.drivers.history import EventTimes, History
from stagec.runtime.machine.exchange import Confirm, Event, Grant, Judge
from stagec.runtime.machine.state import State


class UnreachableError(Failure):
    """The store of the runs cannot be reached now; nothing is wrong with the runs."""


@value
class News:
    """The events that have been acknowledged since a run was read last.

    `begins` tells that they are the first of their run, and that nothing read before counts: the run has not been
    read, or has taken the place of another. `times` are those of the events, none where the run is older than that.
    """

    events: tuple[Event, ...]
    begins: bool
    times: tuple[EventTimes, ...] = ()


class Standing(StrEnum):
    """The standing of a run: somebody executes it, people are asked meanwhile, nobody executes it, or it has ended."""

    NOT_BEGUN = "not begun"
    RUNNING = "running"
    WAITING = "waiting"
    INTERRUPTED = "interrupted"
    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"


def find_standing(state: State, *, is_executed: bool) -> Standing:
    """Return how a run stands that has come to a state."""
    if state.ended is not None:
        return Standing(state.ended)
    if is_executed:
        is_asking = any(isinstance(each, Grant | Confirm | Judge) for each in state.pending.values())
        return Standing.WAITING if is_asking else Standing.RUNNING
    return Standing.INTERRUPTED if state.run else Standing.NOT_BEGUN


@value
class Interruption:
    """Why a run that has not ended was interrupted, and from when on resuming it makes sense, in seconds since 1970."""

    reason: str
    retry_at: float | None = None

    @property
    def sentence(self) -> str:
        """The reason with the time."""
        return self.reason if self.retry_at is None else f"{self.reason}; retry at {write_time(self.retry_at)}"


_LAST = 253_402_300_799
"""The last second of the year 9999."""


def write_time(seconds: float) -> str:
    """Return a time as text: `2027-01-31T08:00:00Z`, rounded up; after the year 9999, its last second."""
    return datetime.fromtimestamp(ceil(min(seconds, _LAST)), UTC).isoformat().replace("+00:00", "Z")


@value
class StoredHistory:
    """The stored events of a run, whether a process executes it, and the reason of its interruption, if known."""

    history: History
    is_executed: bool
    interruption: Interruption | None = None


class FollowedRun(Protocol):
    """A run that somebody else may be executing, read again and again.

    `plan`, `digest` and `facts` are those of the run that was read last. Raises `JournalError` or `Failure`, and
    `UnreachableError` where the same call may succeed a little later.
    """

    @property
    def plan(self) -> bytes:
        """The plan with which it was begun."""

    @property
    def digest(self) -> str:
        """The digest of that plan."""

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts beside the plan."""

    def is_executed(self) -> bool:
        """Tell whether somebody executes the run; ask before you read, because it may end in between."""

    def read_more(self) -> News:
        """Return the news since the last call."""

    def close(self) -> None:
        """Let go of it; reading begins again after this."""
