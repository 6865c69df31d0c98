"""Outages of providers: runs rest and go on by themselves, later each time, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import pytest
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_for, wait_until, working

from stagec.cli.databases.run_sources import list_stored_runs, read_stored_run
from stagec.core.json import Json
from stagec.runtime.drivers.dbos import RunPhase, RunRecord, RunStore
from stagec.runtime.drivers.dbos.database import runs as rows
from stagec.runtime.drivers.messages import MessageKind, write_message
from stagec.runtime.machine import Effect, Program
from stagec.runtime.machine.exchange import Shell
from stagec.runtime.world.models.port import LONGEST_REST, ProviderOutage

HOUR = 3600.0


class World(ScriptedTestWorld):
    """Does not answer so many requests, from the one of a number on."""

    def __init__(self, outages: int, pause: float = 0.01, asked: float | None = None, begin: int = 2) -> None:
        super().__init__()
        self.left, self.pause, self.wish, self.begin = outages, pause, asked, begin
        self.answered: list[str] = []
        self._lock = Lock()

    @contextmanager
    def open(self, _record: RunRecord, _program: Program, _child: str = "") -> Iterator[World]:
        yield self

    def answer(self, effect: Effect) -> Json:
        with self._lock:
            is_down = not isinstance(effect, Shell) and self.left > 0 and len(self.answered) + 1 >= self.begin
            self.left -= is_down
            if not is_down:
                self.answered.append(effect.key)
        if is_down:
            self.asked.append(effect.key)
            raise ProviderOutage("the provider is down", self.pause, self.wish)
        return super().answer(effect)


def rest_of(runs: RunStore, run: str) -> float:
    """Return for how many seconds a run rests."""
    record = wait_until(runs, run, RunPhase.INTERRUPTED)
    assert record.wake_at is not None
    return (record.wake_at - record.now) / 1000


def wake(runs: RunStore) -> None:
    """Let the time of all rests be over."""
    with runs.database.transact() as connection:
        connection.execute(rows.update().where(rows.c.wake_at.is_not(None)).values(wake_at=1))


def number_of(runs: RunStore, run: str) -> object:
    outage = runs.find(run).summary.get("outage")
    return outage["number"] if isinstance(outage, dict) else None


def test_runs_go_on_by_themselves_and_nothing_that_was_answered_is_asked_again(runs: RunStore) -> None:
    world = World(5)
    names = [f"r{number}" for number in range(4)]
    submit(runs, *map(submission, names))
    with working(runs.database, world):
        assert {wait_until(runs, each, RunPhase.DONE, RunPhase.FAILED).phase for each in names} == {RunPhase.DONE}
    assert (
        len(world.answered)
        == len({*world.answered})
        == sum(len(runs.read_history(runs.find(each)).events) - 1 for each in names)
    )
    assert [runs.find(each).wake_at for each in names] == [None] * 4


def test_rests_grow_as_long_as_nothing_happens_in_between(runs: RunStore) -> None:
    world = World(3, pause=HOUR / 10)
    submit(runs, submission("one"))
    with working(runs.database, world):
        for number, most in ((1, 360), (2, 720), (3, LONGEST_REST)):
            wait_for(lambda number=number: number_of(runs, "one") == number)
            assert most - 10 < rest_of(runs, "one") <= most + 30
            wake(runs)
        assert wait_until(runs, "one", RunPhase.DONE).summary["outage"] is None


def test_an_answer_in_between_begins_the_series_again(runs: RunStore) -> None:
    world = World(1, pause=HOUR / 10)
    submit(runs, submission("one"))
    with working(runs.database, world):
        wait_for(lambda: number_of(runs, "one") == 1)
        world.left, world.begin = 1, len(world.answered) + 2
        wake(runs)
        wait_for(lambda: world.left == 0)
        assert rest_of(runs, "one") < 400
        assert number_of(runs, "one") == 1


def test_a_provider_that_asks_for_an_hour_gets_an_hour_and_lists_tell_it(runs: RunStore) -> None:
    submit(runs, submission("one"))
    with working(runs.database, World(1, asked=HOUR)):
        assert HOUR - 10 < rest_of(runs, "one") <= HOUR + 30
    found, _ = list_stored_runs(runs.database.url)
    assert (found[0].status, found[0].reason) == ("interrupted", "the provider is down")
    retry_at = found[0].retry_at
    assert retry_at is not None
    assert "the provider is down; retry at 20" in found[0].make_cells()[-1]
    stored = read_stored_run("one", runs.database.url)
    assert stored.interruption is not None
    assert (stored.interruption.reason, stored.interruption.retry_at) == ("the provider is down", retry_at)


@pytest.mark.parametrize("kind", [None, MessageKind.PAUSE, MessageKind.CANCEL])
def test_a_run_that_rests_can_be_resumed_paused_and_cancelled(runs: RunStore, kind: MessageKind | None) -> None:
    submit(runs, submission("one"))
    with working(runs.database, World(1, asked=HOUR)):
        rest_of(runs, "one")
        if kind is None:
            transitions(runs).resume("one")
        else:
            transitions(runs).send("one", write_message(kind, "test"))
        wanted = {None: RunPhase.DONE, MessageKind.PAUSE: RunPhase.PAUSED, MessageKind.CANCEL: RunPhase.FAILED}[kind]
        record = wait_until(runs, "one", wanted)
        assert record.wake_at is None
        if kind is MessageKind.PAUSE:
            assert transitions(runs).wake_due() == 0
            transitions(runs).resume("one")
            wait_until(runs, "one", RunPhase.DONE)
