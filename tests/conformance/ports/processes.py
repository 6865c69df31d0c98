"""A worker that is a process with a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

TESTS = Path(__file__).parents[2]


class Process:
    """A process that the suite may signal, with all that it starts."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], said: Path) -> None:
        kept = {name: each for name, each in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
        paths = os.pathsep.join((str(TESTS), str(TESTS.parent / "compiler")))
        with said.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, *words],
                env={**kept, "PYTHONPATH": paths, "STAGEC_NO_CACHE": "1", **environment},
                cwd=said.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its number, which is that of its group."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Send a signal: to all processes, or to the first one if it is asked to end."""
        with suppress(ProcessLookupError):
            if number == signal.SIGTERM:
                os.kill(self._process.pid, number)
            else:
                os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> int:
        """Return the exit status when all of its processes have ended."""
        until = time.monotonic() + seconds
        try:
            status = self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"process {self._process.pid} does not end") from error
        while self._has_others():
            if time.monotonic() > until:
                raise TimeoutError(f"what process {self._process.pid} has started does not end")
            time.sleep(0.01)
        return status

    def _has_others(self) -> bool:
        """Tell whether a process of the group lives: one that was killed holds its locks until it has gone."""
        for each in os.listdir("/proc"):
            with suppress(OSError):
                if each.isdigit():
                    state, _, group = Path("/proc", each, "stat").read_text().rpartition(")")[2].split()[:3]
                    if int(group) == self._process.pid and state not in {"Z", "X"}:
                        return True
        return False
