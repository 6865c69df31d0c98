"""While workers of two versions of the machine run, each run stays with workers of the version with which it began."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conformance.ports.dbos import DbosDriver
from conformance.ports.dbos_worker import VERSION
from conformance.ports.processes import Process
from conformance.samples import SAMPLES
from conformance.trial import Trial, on_trial

from stagec.runtime.drivers.dbos.run_records import APPLICATION_VERSION

OLD, NEW = "stagec.plan/1+machine.0", APPLICATION_VERSION
RUNS = 4
LONG = SAMPLES["code-review-retry"]


@pytest.fixture
def trial(database: str, tmp_path: Path) -> Iterator[Trial]:
    """Put PostgreSQL on trial."""
    driver = DbosDriver(tmp_path, database)
    with on_trial(driver, tmp_path, pace=60) as made:
        yield made
    driver.close()


def start(trial: Trial, version: str) -> Process:
    """Start a worker of a version."""
    worker = trial.driver.start_worker({**trial.log.environment(trial.pace), VERSION: version})
    assert isinstance(worker, Process)
    trial.workers.append(worker)
    return worker


def submit(trial: Trial, version: str, numbers: range) -> list[str]:
    """Submit runs for a version."""
    assert isinstance(trial.driver, DbosDriver)
    given = [LONG.submission(number) for number in numbers]
    for each in given:
        trial.driver.submit(each, version)
        trial.submitted[each.run] = each
    return [each.run for each in given]


def list_workers(trial: Trial, runs: list[str]) -> set[int]:
    """Return who was asked for runs."""
    return {line.pid for line in trial.log.read() if line.key.partition("/")[0] in runs}


def test_a_rolling_upgrade_mixes_no_versions(trial: Trial) -> None:
    old_runs, first = submit(trial, OLD, range(RUNS)), start(trial, OLD)
    trial.wait_for_requests(20)
    new_runs, new = submit(trial, NEW, range(RUNS, 2 * RUNS)), start(trial, NEW)
    trial.wait(lambda: bool(list_workers(trial, new_runs)), "the new worker begins")
    first.signal(signal.SIGTERM)
    assert first.wait(30) == 0
    trial.workers.remove(first)
    trial.finish(*new_runs)
    stood = {run: trial.count_events(run) for run in old_runs}
    assert not trial.has_ended(*old_runs)
    time.sleep(1)
    assert {run: trial.count_events(run) for run in old_runs} == stood, "no worker of another version continues a run"
    last = start(trial, OLD)
    trial.finish()
    assert trial.find_faults() == []
    assert list_workers(trial, new_runs) == {new.pid}
    assert list_workers(trial, old_runs) == {first.pid, last.pid}
