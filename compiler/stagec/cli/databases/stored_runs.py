"""The runs of a database, as the commands about runs show them."""

from __future__ import annotations

from stagec.cli.databases.opening import open_store
from stagec.cli.running.history import RunStatus
from stagec.core.failure import Failure
from stagec.core.json import text_in
from stagec.drivers.dbos import RunBrief, RunPhase, RunStore, list_briefs
from stagec.drivers.following import StoredHistory


def read_stored_run(run: str, database: str) -> StoredHistory:
    """Return what has happened in a run."""
    with open_store(database) as store:
        record = store.find(run)
        is_executed = record.phase is RunPhase.ACTIVE and run not in store.list_queued([record])
        return StoredHistory(store.read_history(record), is_executed, record.interruption if record.reason else None)


def list_stored_runs(database: str) -> tuple[list[RunStatus], str]:
    """Return how all runs stand, and the name of the database."""
    with open_store(database) as store:
        return [_describe(store, each) for each in list_briefs(store)], store.database.name.strip("'")


def _describe(store: RunStore, brief: RunBrief) -> RunStatus:
    record = brief.record
    try:
        plan = text_in(record.summary, "plan") or store.load_program(record).plan.id
    except Failure as failure:
        return RunStatus(record.run, "unusable", str(failure))
    counts = brief.executions, brief.events, brief.used
    told = record.interruption
    return RunStatus(record.run, brief.standing, told.reason, plan, brief.plan, *counts, told.retry_at)
