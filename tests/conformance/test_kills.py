"""Workers that are killed, stopped and left behind change nothing of what comes of their runs."""

from __future__ import annotations

import random
import signal
import time

from campaigns import choose, sample

from conformance.samples import SAMPLES, list_samples
from conformance.trial import Trial, strike

KILLED = (
    "code-review-retry",
    "scopes-fork-in-fork",
    "scopes-retried",
    "code-review-tools",
    "issue-solver-validated-again",
)


def test_a_worker_that_is_killed_again_and_again_changes_nothing(trial: Trial) -> None:
    for name in KILLED:
        trial.submit(SAMPLES[name])
    strike(trial, random.Random(0), kills=choose(2, whole=4))  # noqa: S311
    assert trial.find_faults() == []


def test_three_workers_of_which_any_is_killed_execute_many_runs(trial: Trial) -> None:
    for each in sample(list_samples(), 6, full=6):
        trial.submit(each)
    strike(trial, random.Random(0), kills=choose(2, whole=3), workers=3)  # noqa: S311
    assert trial.find_faults() == []


def test_a_worker_that_is_stopped_and_goes_on_later_doubles_nothing(trial: Trial) -> None:
    trial.pace = 20
    for number in range(3):
        trial.submit(SAMPLES["code-review-retry"], number)
    zombie = trial.start_worker()
    trial.wait_for_requests(12)
    zombie.signal(signal.SIGSTOP)
    trial.excuse()
    trial.start_worker()
    if trial.driver.takes_over:
        trial.finish()
        zombie.signal(signal.SIGCONT)
        time.sleep(1)
    else:
        time.sleep(0.5)
        zombie.signal(signal.SIGCONT)
        trial.finish()
    assert trial.find_faults() == []
