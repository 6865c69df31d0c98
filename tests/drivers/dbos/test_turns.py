"""Turns of the threads of a worker: so many at a time, and none while a thread waits for somebody."""

from __future__ import annotations

import time
from threading import Event as Flag
from threading import Lock, Thread

import pytest
import sqlalchemy as sa

from stagec.runtime.drivers.dbos import RunStore
from stagec.runtime.drivers.dbos.execution_setup import FEWEST, Turns, choose_turns


class Counted:
    """How many threads are in a turn, and the most there were."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = Lock()

    def enter(self, more: int) -> None:
        with self._lock:
            self.now += more
            self.most = max(self.most, self.now)


@pytest.mark.parametrize("more", [0, 3])
def test_so_many_threads_have_a_turn_at_the_same_time(more: int) -> None:
    turns, counted = Turns(), Counted()
    turns.allow(more)

    def work() -> None:
        for _ in range(5):
            with turns.take():
                counted.enter(1)
                time.sleep(0.005)
                counted.enter(-1)

    threads = [Thread(target=work) for _ in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert counted.most == FEWEST + more


def test_whoever_waits_lets_others_have_the_turn() -> None:
    turns, answered = Turns(), Flag()

    def wait() -> None:
        with turns.take(), turns.give_back():
            answered.wait(30)

    threads = [Thread(target=wait) for _ in range(10)]
    for each in threads:
        each.start()
    with turns.take(), turns.take():
        answered.set()
    for each in threads:
        each.join(30)
        assert not each.is_alive()


def test_a_turn_comes_back_after_a_fault() -> None:
    turns = Turns()
    for _ in range(10):
        with pytest.raises(ZeroDivisionError), turns.take(), turns.give_back():
            raise ZeroDivisionError
    with turns.take(), turns.take():
        pass


def test_a_distant_database_gives_more_turns(runs: RunStore) -> None:
    near = choose_turns(runs.database)
    assert FEWEST <= near < 16

    @sa.event.listens_for(runs.database.engine, "before_cursor_execute")
    def travel(*_given: object) -> None:
        time.sleep(0.005)

    assert choose_turns(runs.database) == 16 or choose_turns(runs.database) > near
