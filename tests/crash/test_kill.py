"""A run whose process is killed at any moment loses nothing that was acknowledged, and goes on as if nothing was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from crash.flows import Undisturbed, digest, flow, program, undisturbed

from stagec.drivers.local import History, JournalError, Reason, read_journal
from stagec.drivers.local.drive import fold
from stagec.drivers.local.events import key_of
from stagec.drivers.local.replaying import replayed
from stagec.runtime import load

TOP = Path(__file__).parents[2]
STAYS = ("appending", "kept", "asking", "answered")
"""The moments in which a process can be told to stay: before it appends, after, while it asks, and with an answer."""
KILLS = (*STAYS * 7, *("committing",) * 22, *("world",) * 6, *("any",) * 8, *("birth",) * 3)
"""What is aimed at in one flow.

`world` is while the world answers, `any` whenever it happens to be, `birth` while a run is begun.
"""
FIRST = {"any": "open", "world": "asking"}
"""What is said at the beginning of a moment that has another name."""
LONGEST = {"committing": 0.003, "world": 0.02, "any": 0.05, "birth": 0.01}
"""Seconds after which a process is killed at the latest, from when it is in the moment; mostly it is much sooner."""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed by signals of POSIX")


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
        """Kill the child."""
        os.kill(self._child, signal.SIGKILL)

    def close(self) -> None:
        """End, with a child that is still there."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@pytest.fixture
def driver() -> Iterator[Driver]:
    with closing(Driver()) as made:
        yield made


class Life:
    """The life of one process that went on with a run: what it said, and the moment in which it was killed."""

    def __init__(self, lines: list[list[str]]) -> None:
        self.status = int(lines[-1][1])
        self.moment = lines[-2][0] if len(lines) > 1 else "birth"
        self.kept = {int(line[1]): line[2] for line in lines if line[0] == "kept"}
        self.asked = [line[2] for line in lines if line[0] == "asking"]
        self.opened = next((int(line[1]) for line in lines if line[0] == "open"), None)


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


def found(path: Path) -> History | None:
    """Return what a journal holds; nothing when its run never began."""
    try:
        return read_journal(path)
    except JournalError as error:
        if error.reason not in {Reason.MISSING, Reason.EMPTY}:
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
    assert all(mark in {"", same} for mark, same in zip(history.marks, whole.marks, strict=False))
    assert len({key_of(event) for event in history.events}) == held
    acknowledged = max(life.kept, default=(life.opened or 0) - 1) + 1
    assert held - acknowledged in ({0, 1} if life.moment == "committing" else {0})
    if held:
        assert digest(fold(program(name), history.events)) == whole.digests[held - 1]
    return held


def finished(name: str, driver: Driver, path: Path, whole: Undisturbed) -> None:
    """Check that a run goes on to the end that it would have had, and that its replay is no other."""
    driver.begin(name, path)
    life = Life(list(driver.lines()))
    assert (life.status, left(name, path, life, whole)) == (0, len(whole.events))
    assert replayed(program(name), load(flow(name).plan), read_journal(path)) == whole.state


class Tally:
    """The moments in which processes were killed, and how many of them in the middle of a run."""

    def __init__(self) -> None:
        self.moments: Counter[str] = Counter()
        self.inside = 0

    def count(self, life: Life, *, inside: bool) -> None:
        """Count a life, unless it ended by itself."""
        if life.status:
            self.moments[life.moment] += 1
            self.inside += inside


def aimed(aims: list[str], tally: Tally) -> Iterator[str]:
    """Yield what is aimed at; commits are short where the disk is quick, and are aimed at until enough were hit."""
    yield from aims
    for _ in range(300):
        if tally.moments["committing"] < 5:
            yield "committing"


def killed_again_and_again(name: str, driver: Driver, folder: Path, aims: list[str]) -> Tally:
    """Kill the processes that go on with runs, one for each aim, and check what each has left behind."""
    whole, tally, held = undisturbed(name, folder / "whole.run"), Tally(), 0
    files = (folder / f"{number}.run" for number in count())
    path = next(files)
    for aim in aimed(aims, tally):
        if aim == "birth" or held >= len(whole.events) - 3:
            finished(name, driver, path, whole)
            path, held = next(files), 0
        known = {key_of(event) for event in whole.events[:held]}
        life = lived(driver, name, path, aim, max(held, 1) + (aim in {"appending", "kept", "committing"} and held > 0))
        assert not known.intersection(life.asked)
        held = left(name, path, life, whole)
        tally.count(life, inside=0 < held < len(whole.events))
    finished(name, driver, path, whole)
    return tally


@pytest.mark.parametrize("name", ["writing", "reviewing"])
def test_a_run_that_is_killed_again_and_again_is_the_run_it_would_have_been(
    driver: Driver, tmp_path: Path, name: str
) -> None:
    aims = random.Random(name).sample(KILLS, len(KILLS))  # noqa: S311
    tally = killed_again_and_again(name, driver, tmp_path, aims)
    assert tally.moments.total() >= 60
    assert tally.inside >= 0.8 * tally.moments.total()
    assert all(tally.moments[moment] >= 5 for moment in (*STAYS, "committing")), tally.moments


def test_of_two_runners_the_second_is_refused_until_the_first_is_dead(driver: Driver, tmp_path: Path) -> None:
    path, whole = tmp_path / "one.run", undisturbed("writing", tmp_path / "whole.run")
    driver.begin("writing", path, "asking", 3)
    assert any(line[:2] == ["asking", "3"] for line in driver.lines())
    with closing(Driver()) as second:
        second.begin("writing", path)
        assert list(second.lines()) == [["refused", "running"], ["over", "0"]]
        driver.kill()
        assert list(driver.lines()) == [["over", str(-signal.SIGKILL)]]
        finished("writing", second, path, whole)
    assert len(whole.events) > 4
