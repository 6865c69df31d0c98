"""Runs that wait for people hold no worker, no connection and no thread, however long they wait."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import choose
from conformance.ports.dbos import DbosDriver
from conformance.ports.dbos_worker import CLOCK
from conformance.ports.processes import Process
from conformance.samples import SAMPLES
from conformance.trial import Trial, on_trial
from postgres import Postgres

from stagec.runtime.drivers.dbos import RunPhase

RUNS = choose(12, whole=200)
ASKING = SAMPLES["scopes-let-in"]
POOL, OWN = 20, 5
"""Connections of a worker, and those with which a test reads and submits."""
WEEK = 7 * 24 * 3600


@pytest.fixture
def trial(database: str, tmp_path: Path) -> Iterator[Trial]:
    """Put PostgreSQL on trial."""
    driver = DbosDriver(tmp_path, database)
    with on_trial(driver, tmp_path, pace=0) as made:
        yield made
    driver.close()


def count_threads(worker: Process) -> int:
    """Return how many threads a worker has."""
    return len(os.listdir(f"/proc/{worker.pid}/task"))


def count_connections(server: Postgres, trial: Trial, state: str = "%") -> int:
    """Return how many connections a database has in some states."""
    assert isinstance(trial.driver, DbosDriver)
    name = trial.driver.url.rpartition("/")[2]
    query = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{name}' AND state LIKE '{state}'"  # noqa: S608
    return int(server.execute(query)[0][0])


def test_runs_that_wait_for_people_hold_nothing(trial: Trial, postgres_server: Postgres, tmp_path: Path) -> None:
    driver, worker = trial.driver, trial.start_worker()
    assert isinstance(driver, DbosDriver)
    assert isinstance(worker, Process)
    trial.submit(ASKING, RUNS)
    trial.wait(lambda: len(driver.store.list_records([RunPhase.WAITING])) == 1, "one run waits")
    with_one = count_threads(worker)
    for number in range(RUNS):
        trial.submit(ASKING, number)
    trial.wait(lambda: len(driver.store.list_records([RunPhase.WAITING])) == RUNS + 1, "all runs wait")
    trial.wait(lambda: count_threads(worker) <= with_one + 40, "threads are those of the engine's pool")
    trial.wait(lambda: count_connections(postgres_server, trial, "%in transaction%") <= 2, "nobody holds transactions")
    assert count_connections(postgres_server, trial) <= POOL + OWN
    trial.kill(worker)
    asked = trial.log.count
    clock = tmp_path / "clock"
    clock.write_text(str(WEEK), encoding="ascii")
    trial.workers.append(driver.start_worker({**trial.log.environment(0), CLOCK: str(clock)}))
    assert trial.log.count == asked, "nobody is asked for what waits"
    trial.finish()
    assert trial.find_faults() == []
