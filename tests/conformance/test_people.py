"""Questions are answered once, and whoever cancels or pauses a run is obeyed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.port import Driver, RefusedError, Reply
from conformance.samples import SAMPLES
from conformance.trial import Trial
from stagec.runtime.machine import Answered
from stagec.runtime.world.questions import is_for_people

ASKING = SAMPLES["code-review-tools"]
LONG = SAMPLES["code-review-retry"]


def wait_for_question(trial: Trial, run: str) -> str:
    """Return the key of the question that a run asks."""

    def list_asked() -> list[str]:
        return [key for key, each in trial.follow(run).pending.items() if is_for_people(each)]

    trial.wait(lambda: bool(list_asked()), "somebody is asked")
    return list_asked()[0]


def answer_all_at_once(driver: Driver, run: str, key: str) -> list[tuple[bool, Reply]]:
    """Let eight people answer a question, half of them yes; return what they said and hear."""
    said = [True, False] * 4
    with ThreadPoolExecutor(len(said)) as people:
        replies = [people.submit(driver.answer, run, key, yes=each) for each in said]
        return [(yes, reply.result()) for yes, reply in zip(said, replies, strict=True)]


@pytest.mark.parametrize("is_executed", [True, False])
def test_of_many_answers_one_counts(trial: Trial, driver: Driver, *, is_executed: bool) -> None:
    run, worker = trial.submit(ASKING), trial.start_worker()
    key = wait_for_question(trial, run)
    if not is_executed:
        trial.kill(worker)
    heard = answer_all_at_once(driver, run, key)
    counted = [yes for yes, reply in heard if reply is Reply.COUNTS]
    assert len(counted) == 1
    assert driver.answer(run, key, yes=not counted[0]) is Reply.TOO_LATE
    if not is_executed:
        trial.start_worker()

    def find_decision() -> object:
        history = driver.read(run)
        events = () if history is None else history.events
        answers = [each.answer for each in events if isinstance(each, Answered) and each.key == key]
        assert len(answers) <= 1
        return answers[0]["granted"] if answers and isinstance(answers[0], dict) else None

    trial.wait(lambda: find_decision() is not None, "the answer arrives")
    assert find_decision() is counted[0]
    assert driver.answer(run, key, yes=not counted[0]) is Reply.TOO_LATE


def test_nothing_can_be_answered_that_is_not_asked(trial: Trial, driver: Driver) -> None:
    run = trial.submit(ASKING)
    trial.start_worker()
    key = wait_for_question(trial, run)
    for each in (f"{run}/plan#1/1.0", "nothing", f"other/{key.partition('/')[2]}", ""):
        with pytest.raises(RefusedError):
            driver.answer(run, each, yes=True)
    trial.finish()
    assert trial.find_faults() == []


def test_a_question_survives_the_death_of_the_worker(trial: Trial) -> None:
    run = trial.submit(ASKING)
    for _ in range(2):
        worker = trial.start_worker()
        wait_for_question(trial, run)
        trial.kill(worker)
    trial.start_worker()
    trial.finish()
    assert trial.find_faults() == []


def test_a_run_that_is_cancelled_ends_for_good(trial: Trial, driver: Driver) -> None:
    trial.pace = 20
    run = trial.submit(LONG)
    trial.start_worker()
    trial.wait_for_requests(6)
    driver.cancel(run)
    trial.wait(lambda: trial.has_ended(run), "the cancelled run ends")
    asked = trial.log.count
    time.sleep(0.3)
    assert trial.log.count <= asked + 2
    assert trial.find_faults_of_cancelled(run) == []


def test_a_run_that_waits_for_people_is_cancelled(trial: Trial, driver: Driver) -> None:
    run = trial.submit(ASKING)
    trial.start_worker()
    key = wait_for_question(trial, run)
    driver.cancel(run)
    trial.wait(lambda: trial.has_ended(run), "the cancelled run ends")
    assert trial.find_faults_of_cancelled(run) == []
    with pytest.raises(RefusedError):
        driver.answer(run, key, yes=True)


def test_a_run_that_nobody_executes_is_cancelled(trial: Trial, driver: Driver) -> None:
    trial.pace = 20
    run, worker = trial.submit(LONG), trial.start_worker()
    trial.wait_for_requests(6)
    trial.kill(worker)
    driver.cancel(run)
    if not trial.has_ended(run):  # the cancellation may be work for a worker
        trial.start_worker()
    trial.wait(lambda: trial.has_ended(run), "the cancelled run ends")
    assert trial.find_faults_of_cancelled(run) == []


def test_a_paused_run_stands_still_until_it_is_resumed(trial: Trial, driver: Driver) -> None:
    trial.pace = 20
    run = trial.submit(LONG)
    trial.start_worker()
    trial.wait_for_requests(6)
    driver.pause(run)

    def count() -> int:
        history = driver.read(run)
        return 0 if history is None else len(history.events)

    def stands_still() -> bool:
        before = count()
        time.sleep(0.5)
        return count() == before

    trial.wait(stands_still, "the run stands still")
    asked = trial.log.count
    time.sleep(0.5)
    assert trial.log.count == asked
    trial.take_note()
    driver.resume(run)
    trial.finish()
    assert trial.find_faults() == []
