"""Processes that go on with runs until they end or are killed, and what each has left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from crash.flows import Undisturbed, digest, flow, program

from stagec.runtime.drivers.history import key_of
from stagec.runtime.drivers.local import History, JournalError, Reason, read_journal
from stagec.runtime.drivers.replay import fold_events, replay_twice
from stagec.runtime.machine import load

TOP = Path(__file__).parents[2]


class Driver:
    """A process that drives runs in children of its own."""

    def __init__(self) -> None:
        around = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TOP / "compiler"), str(TOP / "tests")))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crash.driven"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=around,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self._child = 0

    def begin(self, name: str, path: Path, stay: str = "", at: int = -1) -> None:
        """Let a child begin a run, or go on with it, and stay in a moment."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"flow": name, "path": str(path), "stay": stay, "at": at}) + "\n")
        self._child = int(next(line for line in self.lines() if line[0] == "born")[1])

    def lines(self) -> Iterator[list[str]]:
        """Yield what is said, as words, until the child is gone."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield line.split()
            if line.startswith("over"):
                return

    def kill(self) -> None:
        """Kill the child, unless it has ended by itself."""
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)

    def close(self) -> None:
        """End, with a child that is still there."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class Life:
    """The life of one process that went on with a run: what it said, and the moment in which it was killed."""

    def __init__(self, lines: list[list[str]]) -> None:
        self.status = int(lines[-1][1])
        self.moment = lines[-2][0] if len(lines) > 1 else "birth"
        self.kept = {int(line[1]): line[2] for line in lines if line[0] == "kept"}
        self.asked = [line[2] for line in lines if line[0] == "asking"]
        self.opened = next((int(line[1]) for line in lines if line[0] == "open"), None)


def found(path: Path) -> History | None:
    """Return what a journal holds; nothing when its run never began."""
    try:
        return read_journal(path)
    except JournalError as error:
        if error.reason is not Reason.MISSING:
            raise
        return None


def left(name: str, path: Path, life: Life, whole: Undisturbed) -> int:
    """Check what a process has left behind; return how many events the journal holds."""
    assert life.status in {0, -signal.SIGKILL}
    assert all(whole.digests[seq] == said for seq, said in life.kept.items())
    history = found(path)
    if history is None:
        assert life.opened is None
        return 0
    held = len(history.events)
    assert history.events == whole.events[:held]
    known = zip(history.step_digests, whole.step_digests, strict=False)
    assert all(each in {"", same} for each, same in known)
    assert len({key_of(event) for event in history.events}) == held
    acknowledged = max(life.kept, default=(life.opened or 0) - 1) + 1
    assert held - acknowledged in ({0, 1} if life.moment == "committing" else {0})
    if held:
        assert digest(fold_events(program(name), history.events)) == whole.digests[held - 1]
    return held


def finished(name: str, driver: Driver, path: Path, whole: Undisturbed) -> None:
    """Check that a run goes on to the end that it would have had, and that its replay is no other."""
    driver.begin(name, path)
    life = Life(list(driver.lines()))
    assert (life.status, left(name, path, life, whole)) == (0, len(whole.events))
    assert replay_twice(program(name), load(flow(name).plan), read_journal(path)) == whole.state


FIRST = {"any": "open", "world": "asking"}
"""What is said at the beginning of a moment that has another name."""
LONGEST = {"committing": 0.003, "world": 0.02, "any": 0.05, "birth": 0.01}
"""Seconds after which a process is killed at the latest, from when it is in the moment; mostly it is much sooner."""


def lived(driver: Driver, name: str, path: Path, aim: str, at: int) -> Life:
    """Go on with a run, and kill the process where it is aimed at."""
    chance = random.Random(f"{name} {path.name} {aim} {at}")  # noqa: S311
    driver.begin(name, path, aim, at)
    said: list[list[str]] = []
    if aim != "birth":
        for line in driver.lines():
            said.append(line)
            if line[0] == "over" or (line[0] == FIRST.get(aim, aim) and (aim == "any" or int(line[1]) >= at)):
                break
    if said and said[-1][0] == "over":
        return Life(said)
    end = time.perf_counter() + LONGEST.get(aim, 0) * chance.random() ** 3
    while time.perf_counter() < end:  # to sleep would take longer than it should
        pass
    driver.kill()
    return Life([*said, *driver.lines()])
