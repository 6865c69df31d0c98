"""The runs of a database, as the commands about runs show them."""

from __future__ import annotations

from stagec.cli.databases.opening import open_store
from stagec.cli.running.history import RunStatus
from stagec.core.failure import Failure
from stagec.core.json import Json, object_of, text_in
from stagec.drivers.dbos import RunPhase, RunRecord, RunStore
from stagec.drivers.dbos.live_run import stand
from stagec.drivers.following import StoredHistory
from stagec.world.models.usage import read_usage


def read_stored_run(run: str, database: str) -> StoredHistory:
    """Return what has happened in a run."""
    with open_store(database) as store:
        record = store.find(run)
        is_executed = record.phase is RunPhase.ACTIVE and run not in store.list_queued([record])
        return StoredHistory(store.read_history(record), is_executed)


def list_stored_runs(database: str) -> tuple[list[RunStatus], str]:
    """Return how all runs stand, and the name of the database."""
    with open_store(database) as store:
        records = store.list_records()
        queued = store.list_queued(records)
        return [_describe(store, each, is_queued=each.run in queued) for each in records], store.database.name.strip(
            "'"
        )


def _describe(store: RunStore, record: RunRecord, *, is_queued: bool) -> RunStatus:
    known = record.summary
    try:
        plan = text_in(known, "plan") or store.load_program(record).plan.id
    except Failure as failure:
        return RunStatus(record.run, "unusable", str(failure))
    usage: Json = known.get("usage")
    used = read_usage({"usage": usage}) if object_of(usage) else None
    executions, events = (each if isinstance(each, int) else None for each in map(known.get, ("executions", "events")))
    standing = stand(record, is_queued=is_queued)
    return RunStatus(
        record.run, standing, record.reason, plan, text_in(known, "digest") or record.plan, executions, events, used
    )
