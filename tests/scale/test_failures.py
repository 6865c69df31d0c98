"""A segment that fails because the database failed is no end of its run: another one goes on."""

from __future__ import annotations

from pathlib import Path

from conformance.ports.dbos import DbosDriver
from conformance.samples import SAMPLES
from conformance.trial import on_trial
from postgres import Postgres


def test_a_run_whose_segment_has_failed_goes_on(postgres_server: Postgres, database: str, tmp_path: Path) -> None:
    driver = DbosDriver(tmp_path, database)
    with on_trial(driver, tmp_path) as trial:
        run = trial.submit(SAMPLES["issue-solver-straight"])
        postgres_server.execute("UPDATE dbos.workflow_status SET status = 'ERROR'", database.rpartition("/")[2])
        trial.start_worker()
        trial.finish()
        assert trial.find_faults() == []
        assert driver.store.find(run).segment == 1
    driver.close()
