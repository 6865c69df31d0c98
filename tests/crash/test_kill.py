"""A run whose process is killed at any moment loses nothing that was acknowledged, and goes on as if nothing was."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from campaigns import choose
from crash.flows import undisturbed
from crash.lives import Driver, Life, finished, left, lived

from stagec.runtime.drivers.history import key_of

STAYS = ("appending", "kept", "asking", "answered")
"""The moments in which a process can be told to stay: before it appends, after, while it asks, and with an answer."""
TIMES = choose(1, whole=7)
KILLS = (
    *STAYS * TIMES,
    *("committing", "committing", "committing", "world", "any") * TIMES,
    *("birth",) * choose(1, whole=3),
)
"""What is aimed at in one flow.

`world` is while the world answers, `any` whenever it happens to be, `birth` while a run is begun.
"""
LEAST = choose(1, whole=5)
"""How often a process is killed in each moment at least."""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed by signals of POSIX")


@pytest.fixture
def driver() -> Iterator[Driver]:
    with closing(Driver()) as made:
        yield made


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
        if tally.moments["committing"] < LEAST:
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


@pytest.mark.parametrize("name", ["writing", "reviewing", "solving"])
def test_a_run_that_is_killed_again_and_again_is_the_run_it_would_have_been(
    driver: Driver, tmp_path: Path, name: str
) -> None:
    aims = random.Random(name).sample(KILLS, len(KILLS))  # noqa: S311
    tally = killed_again_and_again(name, driver, tmp_path, aims)
    assert tally.moments.total() >= 8 * TIMES
    assert tally.moments.total() - tally.inside <= max(3, 0.2 * tally.moments.total())
    assert all(tally.moments[moment] >= LEAST for moment in (*STAYS, "committing")), tally.moments


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
