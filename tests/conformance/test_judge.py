"""The suite finds what it is for: each history here is wrong in one way."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from conformance.judge import Judge
from conformance.port import Driver
from conformance.samples import SAMPLES, list_samples
from conformance.trial import Trial
from stagec.core.value import replace
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.replay import digest_step
from stagec.runtime.machine import Answered, Cancelled, Event

RUN = "issue-solver-straight.0"
SAMPLE = SAMPLES["issue-solver-straight"]


def keep() -> History:
    """Return the history of a run as it must be."""
    both = list(SAMPLE.play(RUN))
    digests = tuple(digest_step(number, step) for number, (_, step) in enumerate(both))
    return History(SAMPLE.plan, SAMPLE.program.digest, tuple(event for event, _ in both), digests)


def change(alter: Callable[[list[Event]], object]) -> History:
    """Return the history with other events, and step digests that say nothing."""
    history = keep()
    events = [*history.events]
    alter(events)
    return replace(history, events=tuple(events), step_digests=("",) * len(events))


def answer_otherwise(events: list[Event]) -> None:
    assert isinstance(events[2], Answered)
    events[2] = Answered(events[2].key, {"answer": {}})


FAULTS: dict[str, tuple[Callable[[], History | None], str]] = {
    "nothing": (lambda: None, "nothing is kept"),
    "lost": (lambda: change(lambda events: events.pop(3)), "happened 0 times instead of 1"),
    "doubled": (lambda: change(lambda events: events.insert(3, events[2])), "for which nobody waits"),
    "swapped": (lambda: change(lambda events: events.insert(2, events.pop(3))), "for which nobody waits"),
    "cut": (lambda: change(list.pop), "happened 0 times instead of 1"),
    "begun twice": (lambda: change(lambda events: events.insert(1, events[0])), "event 1 is Started"),
    "goes on": (lambda: change(lambda events: events.append(Cancelled())), "happened after the end"),
    "another answer": (lambda: change(answer_otherwise), "happened 1 times instead of 0"),
    "another plan": (lambda: replace(keep(), plan=SAMPLES["scopes-retried"].plan), "its plan is another one"),
    "another digest": (lambda: replace(keep(), step_digests=("0" * 32,) * 7), "than its step digest says"),
}


def test_a_history_that_is_right_has_no_fault() -> None:
    assert list(Judge(RUN, SAMPLE, keep()).find_faults()) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_history_that_is_wrong_has_one(name: str) -> None:
    make, said = FAULTS[name]
    assert any(said in each for each in Judge(RUN, SAMPLE, make()).find_faults())


@pytest.mark.parametrize("seed", range(5))
def test_answers_to_parallel_requests_may_arrive_in_any_order(seed: int) -> None:
    sample, run = SAMPLES["scopes-fork-in-fork"], "scopes-fork-in-fork.0"
    events = tuple(event for event, _ in sample.play(run, random.Random(seed)))  # noqa: S311
    history = History(sample.plan, sample.program.digest, events, ("",) * len(events))
    assert list(Judge(run, sample, history).find_faults()) == []


class OneHistory:
    """A driver that has kept one run, and does nothing."""

    takes_over = True

    def read(self, _run: str) -> History:
        """Return the history."""
        return keep()


def judge_log(tmp_path: Path, write: Callable[[Trial, Any], None]) -> list[str]:
    """Return the faults of a trial whose log somebody writes."""
    trial = Trial(cast("Driver", OneHistory()), tmp_path)
    trial.submitted[RUN] = SAMPLE.submission()
    with trial.log.path.open("w", encoding="utf-8") as log:
        write(trial, log)
    return trial.find_faults()


def write_all(log: Any, *without: str) -> list[str]:
    keys = [event.key for event in keep().events if isinstance(event, Answered)]
    log.writelines(f"begun 1 {key}\nover 1 {key}\n" for key in keys if key not in without)
    log.flush()
    return keys


def test_a_log_in_which_each_answer_is_given_has_no_fault(tmp_path: Path) -> None:
    assert judge_log(tmp_path, lambda _, log: void(write_all(log))) == []


def void(_given: object) -> None:
    """Return nothing."""


def test_an_answer_that_nobody_has_given_is_a_fault(tmp_path: Path) -> None:
    key = next(event.key for event in keep().events if isinstance(event, Answered))
    (fault,) = judge_log(tmp_path, lambda _, log: void(write_all(log, key)))
    assert fault == f"{key} is acknowledged, and nobody was asked for it"


def test_a_request_that_is_made_again_after_its_answer_was_acknowledged_is_a_fault(tmp_path: Path) -> None:
    def write(trial: Trial, log: Any) -> None:
        keys = write_all(log)
        trial.take_note()
        log.write(f"begun 2 {keys[0]}\n")

    (fault,) = judge_log(tmp_path, write)
    assert "was asked again by 2" in fault


def test_the_samples_have_forks_retries_questions_loops_and_failures() -> None:
    samples = {each.name: each for each in list_samples()}
    assert len(samples) >= 60
    assert sum(each.program.plan.limits.parallel > 1 for each in samples.values()) >= 15
    assert sum(bool(each.questions) for each in samples.values()) >= 10
    assert max(each.length for each in samples.values()) > 100
    ended = {list(each.play("run"))[-1][1].state.ended for each in samples.values()}
    assert {str(each) for each in ended} >= {"done", "failed"}
