"""The world of the runs of the suite: it answers by key as a trace says, and logs each request that it is given.

The log is a file to which all workers append: `begun PID KEY` before an answer is worked out, `over PID KEY` after.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from conformance.samples import SAMPLES, sample_of
from stagec.core.json import Json
from stagec.runtime.machine import Effect, Program
from stagec.runtime.machine.exchange import Wait
from stagec.runtime.world.questions import is_for_people

LOG = "STAGEC_CONFORMANCE_LOG"
PACE = "STAGEC_CONFORMANCE_PACE"
"""How many milliseconds an answer takes."""
PROVIDER = "STAGEC_CONFORMANCE_PROVIDER"
"""The provider of models to which all requests go; none where it is absent."""


class LoggedWorld:
    """Answers the requests of every run of the suite; those for people are left to people."""

    def __init__(self, log: Path, pace: float) -> None:
        self._pace = pace
        self._descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def takes(self, effect: Effect) -> bool:
        """Tell whether it answers a request."""
        return not is_for_people(effect)

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if isinstance(effect, Wait):
            time.sleep(effect.milliseconds / 1000)
            return {}
        self._write("begun", effect.key)
        time.sleep(self._pace)
        found = SAMPLES[sample_of(effect.key)].answer(effect.key)
        self._write("over", effect.key)
        return found

    def name_provider(self, _effect: Effect) -> str:
        """Return the provider of models to which a request goes."""
        return os.environ.get(PROVIDER, "")

    def _write(self, what: str, key: str) -> None:
        os.write(self._descriptor, f"{what} {os.getpid()} {key}\n".encode())


@cache
def _open(log: str, pace: float) -> LoggedWorld:
    return LoggedWorld(Path(log), pace)


def make(_program: Program) -> LoggedWorld:
    """Make the world of a run, as the environment says; a process has one log, however many runs it executes."""
    return _open(os.environ[LOG], float(os.environ.get(PACE, "0")) / 1000)


class Line(NamedTuple):
    """A line of the log, and where it begins."""

    at: int
    what: str
    pid: int
    key: str


class Log:
    """What all workers have been asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def environment(self, pace: float) -> Mapping[str, str]:
        """Return the variables that a worker needs for answers that take some milliseconds."""
        return {LOG: str(self.path), PACE: str(pace)}

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.path.stat().st_size

    @property
    def count(self) -> int:
        """How many lines it has."""
        return self.path.read_bytes().count(b"\n")

    def read(self) -> list[Line]:
        """Return the whole lines."""
        found, at = list[Line](), 0
        for line in self.path.read_bytes().split(b"\n")[:-1]:
            what, pid, key = line.decode().split(" ", 2)
            found.append(Line(at, what, int(pid), key))
            at += len(line) + 1
        return found
