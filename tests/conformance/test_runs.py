"""A run comes out as the machine alone says, whoever executes it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import sample

from conformance.port import Driver, RefusedError
from conformance.ports.local import LocalDriver
from conformance.samples import SAMPLES, list_samples
from conformance.trial import Trial, on_trial


def test_every_sample_ends_as_in_memory(trial: Trial) -> None:
    runs = [trial.submit(each) for each in sample(list_samples(), 8, full=12)]
    trial.start_worker()
    trial.finish()
    assert trial.find_faults() == []
    asked = [line.key for line in trial.log.read() if line.what == "begun"]
    assert len(asked) == len(set(asked)), "without a crash, nothing is asked twice"
    assert len(runs) >= 12


def test_a_run_that_is_submitted_again_is_the_same_run(trial: Trial) -> None:
    loop = SAMPLES["issue-solver-straight"]
    run = trial.submit(loop)
    trial.submit(loop)
    trial.start_worker()
    trial.finish()
    trial.submit(loop)
    trial.finish()
    assert trial.find_faults(run) == []


def test_another_run_of_the_same_id_is_refused(driver: Driver) -> None:
    first = SAMPLES["issue-solver-straight"].submission()
    driver.submit(first)
    for other in (first._replace(inputs={"issue": 9}), SAMPLES["scopes-retried"].submission()._replace(run=first.run)):
        with pytest.raises(RefusedError):
            driver.submit(other)


@pytest.mark.parametrize("change", [lambda plan: plan[:-2], lambda plan: plan.replace(b"solver", b"silver", 1)])
def test_a_plan_that_was_altered_is_refused(driver: Driver, change: object) -> None:
    assert callable(change)
    first = SAMPLES["issue-solver-straight"].submission()
    changed = first._replace(plan=change(first.plan))
    assert changed.plan != first.plan
    with pytest.raises(RefusedError):
        driver.submit(changed)
    assert driver.read(first.run) is None


def test_a_worker_that_is_asked_to_end_ends_and_another_one_goes_on(trial: Trial) -> None:
    trial.pace = 20
    runs = [trial.submit(SAMPLES["code-review-retry"], number) for number in range(2)]
    first = trial.start_worker()
    trial.wait_for_requests(20)
    first.signal(signal.SIGTERM)
    assert first.wait(30) in {0, 128 + signal.SIGTERM}
    trial.workers.remove(first)
    trial.take_note()
    assert not trial.has_ended(*runs)
    trial.start_worker()
    trial.finish()
    assert trial.find_faults() == []


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Trial]:
    """Put the local driver on trial beside the other one."""
    for name in ("local", "local-log"):
        (tmp_path / name).mkdir()
    with on_trial(LocalDriver(tmp_path / "local"), tmp_path / "local-log", pace=20) as made:
        yield made


def interrupt(trial: Trial) -> str:
    """Let a run come to its middle, and return it when nobody executes it."""
    trial.pace = 20
    run, worker = trial.submit(SAMPLES["code-review-retry"]), trial.start_worker()
    trial.wait_for_requests(20)
    trial.kill(worker)
    return run


def move(run: str, here: Trial, there: Trial, path: Path) -> None:
    """Move a run to another driver, and let it come to its end there."""

    def save() -> bool:
        try:
            here.driver.save(run, path)
        except RefusedError:  # somebody else may seem to execute it for a while
            return False
        return True

    here.driver.pause(run)
    here.wait(save, "no process executes the run")
    known = here.driver.read(run)
    there.driver.load(run, path)
    there.submitted = dict(here.submitted)
    there.given_elsewhere = {line.key for line in here.log.read() if line.what == "over"}
    there.take_note()
    there.start_worker()
    there.finish()
    assert there.find_faults() == []
    found = there.driver.read(run)
    assert known is not None
    assert found is not None
    assert found.events[: len(known.events)] == known.events
    assert 4 < len(known.events) < len(found.events)


def test_a_journal_moves_out_and_the_local_driver_goes_on(trial: Trial, local: Trial, tmp_path: Path) -> None:
    move(interrupt(trial), trial, local, tmp_path / "kept.run")


def test_a_journal_of_the_local_driver_moves_in(trial: Trial, local: Trial, tmp_path: Path) -> None:
    move(interrupt(local), local, trial, tmp_path / "kept.run")
