"""When events happened: kept beside them, and without any influence on what follows from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import time_ns

import pytest
from playable import steps

from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.runtime.drivers.history import UNTIMED, EventTimes, add_times, dump_event, load_event, load_timed_event
from stagec.runtime.drivers.local import History, Journal, create, drive, read_journal
from stagec.runtime.drivers.local.live_journal import LiveJournal
from stagec.runtime.drivers.replay import replay_twice
from stagec.runtime.machine import Answered, Effect, Program, Started, State, load

STARTED = Started("one", None, {"topic": "winter"})


class Answers:
    def __init__(self) -> None:
        self._left = iter(("next", "closing"))

    def answer(self, effect: Effect) -> Json:
        kind = type(effect).__name__
        return {"answer": {"action": next(self._left)}} if kind == "Ask" else {"exit": 0, "stdout": "", "stderr": ""}


@pytest.fixture
def program() -> Program:
    return load(dump(steps()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.run"


@pytest.fixture
def journal(program: Program, path: Path) -> Iterator[Journal]:
    with closing(create(path, dump(steps()), program.digest)) as opened:
        yield opened


def _run(program: Program, journal: Journal, path: Path) -> History:
    drive(program, journal, Answers(), STARTED)
    journal.close()
    return read_journal(path)


def test_every_event_of_a_run_has_its_time_and_answers_when_they_began(
    program: Program, journal: Journal, path: Path
) -> None:
    before = time_ns()
    history = _run(program, journal, path)
    times = [part for each in history.times for part in (each.begun, each.at) if part is not None]
    assert len(history.times) == len(history.events) == 4
    assert [each.begun is None for each in history.times] == [True, False, False, False]
    known = [before, *times, time_ns()]
    assert known == sorted(known)


def test_a_replay_is_equal_whatever_the_times(program: Program, journal: Journal, path: Path) -> None:
    assert isinstance(replay_twice(program, load(dump(steps())), _run(program, journal, path)), State)


def test_who_reads_a_journal_that_is_written_reads_the_times(program: Program, journal: Journal, path: Path) -> None:
    history = _run(program, journal, path)
    with closing(LiveJournal(path)) as live:
        news = live.read_more()
        assert (news.events, news.times) == (history.events, history.times)
        assert live.read_more().times == ()


def test_an_older_journal_has_no_times_and_a_resumed_one_has_those_that_are_known(
    program: Program, journal: Journal, path: Path
) -> None:
    journal.append(STARTED, dump_event(STARTED))
    with closing(LiveJournal(path)) as live:
        assert live.read_more().times == ()
    answered = Answered("one/draft#1/1.0", {"answer": {"action": "next"}})
    journal.append(answered, add_times(dump_event(answered), EventTimes(7, 5)))
    journal.close()
    assert read_journal(path).times == (UNTIMED, EventTimes(7, 5))


@pytest.mark.parametrize("given", ["7", 1.5, -1, True, None, 1 << 63, [], 10**400])
def test_what_is_no_time_is_not_known(given: object) -> None:
    body = json.dumps({"is": "cancelled", "reason": "x", "at": given, "begun": given})
    assert load_timed_event(body) == (load_event(body), UNTIMED)
