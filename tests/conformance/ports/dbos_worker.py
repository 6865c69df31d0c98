"""A worker of the driver `dbos` for the suite: the one of `stagec worker`, with the world of the suite."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CLOCK = "STAGEC_CONFORMANCE_CLOCK"
"""A file with the seconds by which the clock of a worker is wrong; it may change at any moment."""


def shift_clock(told: Path) -> None:
    """Let the clock on the wall, and no other one, be wrong: before anybody takes the functions that read it."""
    read, read_ns = time.time, time.time_ns

    def find_shift() -> int:
        return int(told.read_text(encoding="ascii"))

    time.time = lambda: read() + find_shift()
    time.time_ns = lambda: read_ns() + find_shift() * 1_000_000_000


if CLOCK in os.environ:
    shift_clock(Path(os.environ[CLOCK]))

from conformance.world import make
from stagec.core.json import Json
from stagec.drivers.dbos import RunRecord, Worker, WorkerSettings, open_database
from stagec.drivers.dbos.run_records import APPLICATION_VERSION
from stagec.runtime import Effect, Event, Program, StepResult

VERSION = "STAGEC_CONFORMANCE_VERSION"
"""The version of the machine that a worker says it has, if not its own."""
PATIENCE = 4.0
"""Seconds after which a worker without a beat is dead: a suite has less time than a service."""


class SuiteWorld:
    """The world of the suite as segments want it: people are left to people."""

    def __init__(self, program: Program) -> None:
        self._world = make(program)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        return self._world.answer(effect)

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that requests may be under way beside others."""
        return True

    def cancel(self, key: str) -> None:
        """Let answers come that nobody needs."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether it answers a request."""
        return self._world.takes(effect)

    def observe(self, event: Event, step: StepResult) -> None:
        """Remember nothing: answers follow from keys."""


@contextmanager
def open_world(_record: RunRecord, program: Program) -> Iterator[SuiteWorld]:
    """Make the world of a run."""
    yield SuiteWorld(program)


def say(sentence: str) -> None:
    """Write a line at once."""
    os.write(2, f"{os.getpid()} {sentence}\n".encode())


def main(url: str) -> None:
    """Work until somebody asks for the end."""
    database = open_database(url, connections=20)
    version = os.environ.get(VERSION, APPLICATION_VERSION)
    settings = WorkerSettings(open_world, say, concurrency=8, grace=5, patience=PATIENCE, version=version)
    worker = Worker(database, settings)
    signal.signal(signal.SIGTERM, lambda *_: worker.drain())
    worker.work()
    database.close()


if __name__ == "__main__":
    main(sys.argv[1])
