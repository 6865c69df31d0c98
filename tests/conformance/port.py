"""The port of the suite: what somebody writes who wants to know whether a driver keeps what drivers must keep.

A driver executes runs in processes of its own, the workers. The suite submits runs, starts, kills and stops workers,
and looks at the histories. Whoever executes a run has its requests answered by `conformance.world.make(program)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from stagec.core.json import Json
from stagec.runtime.drivers.history import History


class Submission(NamedTuple):
    """A run that somebody wants: its id, the bytes of its plan, the entry, None for the plan's own, and the inputs."""

    run: str
    plan: bytes
    entry: str | None
    inputs: Mapping[str, Json]


class RefusedError(Exception):
    """Raised by a port for what its driver refuses, with what that says."""


class Reply(StrEnum):
    """What comes of an answer to a question."""

    COUNTS = "counts"
    TOO_LATE = "too late"


class Worker(Protocol):
    """A process that executes runs, with the processes that it has started."""

    def signal(self, number: int) -> None:
        """Send a signal: SIGKILL and SIGSTOP to all of its processes, SIGTERM as somebody does who stops a service."""

    def wait(self, seconds: float) -> int:
        """Return the exit status of the process that was started; raise `TimeoutError` when it does not end."""


class Driver(Protocol):
    """One place where runs are kept, empty at first. Every method may be called while workers live, and while none do.

    `takes_over` tells whether a worker continues the runs of another one that has stopped without ending.
    """

    takes_over: bool

    def submit(self, submission: Submission) -> None:
        """Take a run. The same submission again changes nothing; another one of the same id is a `RefusedError`.

        So is a plan that is no plan, or not what its digest says.
        """

    def start_worker(self, world: Mapping[str, str]) -> Worker:
        """Start a worker whose environment has these variables, too: `conformance.world` reads them."""

    def read(self, run: str) -> History | None:
        """Return what is kept of a run; None if nothing has happened. The events are those that are acknowledged.

        Step digests may be empty texts where a driver has none.
        """

    def answer(self, run: str, key: str, *, yes: bool) -> Reply:
        """Answer a question of a run; whether the answer counts is known, and final, when this returns.

        A `RefusedError` for a key under which nothing is asked.
        """

    def cancel(self, run: str) -> None:
        """End a run for good, at once or as soon as a worker hears of it."""

    def pause(self, run: str) -> None:
        """Let no worker execute a run any more."""

    def resume(self, run: str) -> None:
        """Let workers execute a paused run again."""

    def save(self, run: str, path: Path) -> None:
        """Write a run that nobody executes as a journal of the local driver."""

    def load(self, run: str, path: Path) -> None:
        """Take a run from a journal of the local driver, where it ends; workers go on with it."""

    def close(self) -> None:
        """Let go of everything; no worker lives any more."""
