"""A worker that is a process with a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import nursery


class Process:
    """A process that the suite may signal, with all that it starts."""

    def __init__(self, module: str, words: Sequence[str], environment: Mapping[str, str], said: Path) -> None:
        around = nursery.inherit(STAGEC_NO_CACHE="1", **environment)
        with said.open("ab") as log, Path(os.devnull).open("rb") as nothing:
            streams = (nothing.fileno(), log.fileno(), log.fileno())
            self._process = nursery.start(words, said.parent, around, streams, module, is_group=True)

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
        except (TimeoutError, subprocess.TimeoutExpired) as error:
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
