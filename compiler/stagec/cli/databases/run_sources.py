"""Stored runs: databases and folders that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from stagec.cli.running.history import RunStatus, find_status
from stagec.cli.running.runs import Runs, name_of, read_run
from stagec.core.failure import Failure
from stagec.core.json import text_in
from stagec.runtime.drivers.following import StoredHistory

if TYPE_CHECKING:
    from stagec.runtime.drivers.dbos import Database, RunBrief, RunStore


@contextmanager
def open_named(url: str | None, connections: int = 5) -> Iterator[Database]:
    """Open a database; nothing is asked of it yet."""
    if url is None:
        raise Failure("no database is named: use --database URL, or the variable STAGEC_DATABASE")
    from stagec.runtime.drivers.dbos import open_database

    database = open_database(url, connections)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def open_store(url: str | None) -> Iterator[RunStore]:
    """Open the runs of a database; raise `Failure` unless its tables are those of this version."""
    with open_named(url) as database:
        from stagec.runtime.drivers.dbos import RunStore, check

        check(database)
        yield RunStore(database)


def read_stored_run(run: str, database: str) -> StoredHistory:
    """Return the history of a run."""
    from stagec.runtime.drivers.dbos import RunPhase

    with open_store(database) as store:
        record = store.find(run)
        is_executed = record.phase is RunPhase.ACTIVE and run not in store.list_queued([record])
        return StoredHistory(store.read_history(record), is_executed, record.interruption if record.reason else None)


def list_stored_runs(database: str) -> tuple[list[RunStatus], str]:
    """Return how all runs stand, and the name of the database."""
    from stagec.runtime.drivers.dbos import list_briefs

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


def read_named(run: str, folder: Path, database: str | None) -> tuple[str, StoredHistory]:
    """Return the name of a run and what has happened in it, or raise `Failure`."""
    if database is not None:
        return run, read_stored_run(run, database)
    path = Runs(folder).find(run)
    return name_of(path), read_run(path)


def list_statuses(folder: Path, database: str | None) -> tuple[list[RunStatus], str]:
    """Return how all runs stand, and where they are."""
    if database is not None:
        return list_stored_runs(database)
    return [find_status(path) for path in Runs(folder)], str(folder)
