"""Runs: asked once, journaled before anything follows, resumed where they were interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest
from playable import Answers, stages

from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import (
    Journal,
    JournalError,
    RunSession,
    drive,
    open_journal,
    proceed,
    read_journal,
    restore,
)
from stagec.runtime.drivers.replay import fold_events
from stagec.runtime.machine import Answered, Cancelled, Effect, Program, Started, State, StepResult, advance, load
from stagec.runtime.machine.exchange import Wait, choose_next

STARTED = Started("one", inputs={"topic": "winter"})
WHOLE = ["one/draft#1/1.0", "one/draft#2/1.0", "one/close#1/1.0", "one/close#1/1.1"]


def test_a_run_goes_on_until_it_has_ended(program: Program, journal: Journal) -> None:
    world = Answers()
    state = drive(program, journal, world, STARTED)
    assert (state.ended, state.executions, world.asked) == (Outcome.DONE, 3, WHOLE)


def test_the_journal_holds_what_has_happened(program: Program, journal: Journal, path: Path) -> None:
    state = drive(program, journal, Answers(), STARTED)
    journal.close()
    kept = read_journal(path)
    assert kept.events[0] == STARTED
    assert [each.key for each in kept.events if isinstance(each, Answered)] == WHOLE
    assert fold_events(program, kept.events) == state


@pytest.mark.parametrize("stop", WHOLE)
def test_a_run_that_was_interrupted_asks_again_for_what_was_not_answered(
    program: Program, journal: Journal, path: Path, stop: str
) -> None:
    world = Answers(stop)
    with pytest.raises(InterruptedError):
        drive(program, journal, world, STARTED)
    journal.close()
    again = Answers()
    reopened = open_journal(path)
    state = drive(program, reopened, again, None)
    reopened.close()
    assert again.asked == WHOLE[WHOLE.index(stop) :]
    assert (state.ended, state.executions) == (Outcome.DONE, 3)
    assert fold_events(program, read_journal(path).events) == state


def test_a_run_that_has_ended_asks_for_nothing(program: Program, journal: Journal, path: Path) -> None:
    state = drive(program, journal, Answers(), STARTED)
    journal.close()
    reopened = open_journal(path)
    world = Answers()
    assert drive(program, reopened, world, None) == state
    reopened.close()
    assert world.asked == []


def test_a_run_is_cancelled_without_asking(program: Program, journal: Journal) -> None:
    with pytest.raises(InterruptedError):
        drive(program, journal, Answers("one/draft#2/1.0"), STARTED)
    world, before = Answers(), fold_events(program, [STARTED])
    state = proceed(RunSession(program, journal, world), before, Cancelled("enough"))
    assert (state.ended, state.reason, world.asked) == (Outcome.FAILED, "draft, attempt 1: cancelled: enough", [])


def test_nothing_follows_from_an_event_before_it_is_in_the_journal(program: Program, journal: Journal) -> None:
    seen: list[int] = []

    class Watching(Answers):
        def answer(self, effect: Effect) -> Json:
            seen.append(journal.count)
            return super().answer(effect)

    drive(program, journal, Watching(), STARTED, lambda _, __: seen.append(-journal.count))
    assert seen == [-1, 1, -2, 2, -3, 3, -4, 4, -5]


def test_observers_are_told_of_every_event(program: Program, journal: Journal, path: Path) -> None:
    live: list[tuple[object, StepResult]] = []
    drive(program, journal, Answers(), STARTED, lambda event, step: live.append((event, step)))
    journal.close()
    again: list[tuple[object, StepResult]] = []
    restore(program, read_journal(path), lambda event, step: again.append((event, step)))
    assert again == live


def test_an_answer_is_seen_as_the_journal_gives_it_back(program: Program, journal: Journal) -> None:
    class Tuples(Answers):
        def answer(self, effect: Effect) -> Json:
            super().answer(effect)
            return {"answer": {"action": "next", "list": (1, 2), "numbers": {1: 2}}}  # type: ignore[dict-item]

    events: list[object] = []
    with pytest.raises((InterruptedError, KeyError)):
        drive(program, journal, Tuples("one/close#1/1.0"), STARTED, lambda event, _: events.append(event))
    assert events[1] == Answered("one/draft#1/1.0", {"answer": {"action": "next", "list": [1, 2], "numbers": {"1": 2}}})


def test_an_answer_that_is_no_json_is_an_answer_that_cannot_be_read(
    program: Program, journal: Journal, path: Path
) -> None:
    class Wrong(Answers):
        def answer(self, effect: Effect) -> Json:
            super().answer(effect)
            return {"answer": {"action": {1, 2}}, "text": "x\udfff", "usage": {"input": 7}}  # type: ignore[dict-item]

    state = drive(program, journal, Wrong(), STARTED)
    assert state.reason.endswith("the answer cannot be read: /action: a Python 'set' is not JSON")
    journal.close()
    kept = {"unreadable": "/action: a Python 'set' is not JSON", "text": "x?", "usage": {"input": 7}}
    assert [each.answer for each in read_journal(path).events if isinstance(each, Answered)] == [kept, kept]


def test_a_history_from_which_something_else_follows_is_not_gone_on_with(
    program: Program, journal: Journal, path: Path
) -> None:
    journal.append(STARTED)
    journal.take_digest("0" * 32)
    journal.seal()
    journal.close()
    with pytest.raises(JournalError, match="event 0 now has another result"):
        restore(program, read_journal(path))


def test_waits_come_last_and_the_shortest_first() -> None:
    program = load(dump(stages()))
    state = advance(program, State(), Started("r")).state
    (turn,) = state.pending.values()
    long, short = Wait("long", 60), Wait("short", 6)
    assert choose_next([long, turn]) == turn
    assert choose_next([long, short]) == short
