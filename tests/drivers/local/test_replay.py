"""Replays: equal when the same follows from every event, else the first event that differs."""

from __future__ import annotations

from pathlib import Path

import pytest
from playable import Answers

from stagec.core.value import replace
from stagec.runtime.drivers.local import History, Journal, drive, read_journal
from stagec.runtime.drivers.replay import Difference, digest_step, fold_events, replay_twice
from stagec.runtime.machine import Program, Started, State, advance, load

STARTED = Started("one", inputs={"topic": "winter"})


@pytest.fixture
def history(program: Program, journal: Journal, path: Path) -> History:
    drive(program, journal, Answers(), STARTED)
    journal.close()
    return read_journal(path)


def changed(history: History, seq: int, text: str) -> History:
    return replace(history, step_digests=(*history.step_digests[:seq], text, *history.step_digests[seq + 1 :]))


def test_a_replay_leads_to_the_same_state(program: Program, plan: bytes, history: History) -> None:
    assert replay_twice(program, load(plan), history) == fold_events(program, history.events)


def test_the_first_event_that_differs_is_found(program: Program, plan: bytes, history: History) -> None:
    twice = changed(changed(history, 2, "0" * 32), 3, "0" * 32)
    assert replay_twice(program, load(plan), twice) == Difference(2, "what")


def test_another_state_is_told_from_other_requests(program: Program, plan: bytes, history: History) -> None:
    last = len(history.step_digests) - 1
    followed, _, state = history.step_digests[last].partition(".")
    assert len(state) == 32
    assert replay_twice(program, load(plan), changed(history, last, f"{followed}.{'0' * 32}")) == Difference(
        last, "state"
    )


def test_events_without_a_step_digest_are_believed(program: Program, plan: bytes, history: History) -> None:
    without = replace(history, step_digests=("",) * len(history.step_digests))
    assert replay_twice(program, load(plan), without) == fold_events(program, history.events)


def test_a_step_digest_says_what_was_asked(program: Program) -> None:
    one = advance(program, State(), STARTED)
    other = advance(program, State(), replace(STARTED, inputs={"topic": "spring"}))
    assert digest_step(1, one) == digest_step(1, advance(program, State(), STARTED))
    assert digest_step(1, one) != digest_step(1, other)


def test_a_step_digest_says_where_the_run_stands_at_times(program: Program) -> None:
    step = advance(program, State(), STARTED)
    silent = replace(step, state=replace(step.state, said="something"))
    assert digest_step(1, step) == digest_step(1, silent)
    assert digest_step(0, step) != digest_step(0, silent)
    assert digest_step(1_000, step) != digest_step(1_000, silent)
