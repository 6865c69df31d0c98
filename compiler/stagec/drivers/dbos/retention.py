"""Remove runs that have ended long ago, with everything that is kept of them."""

from __future__ import annotations

import sqlalchemy as sa

from stagec.drivers.dbos.queues import REQUEST
from stagec.drivers.dbos.run_records import ENDED, name_segment
from stagec.drivers.dbos.run_store import RunStore, chunk
from stagec.drivers.dbos.tables import documents, messages, runs, workflows

_AT_ONCE = 200
"""Runs that are removed in one transaction."""


def remove_old(store: RunStore, seconds: float) -> int:
    """Remove the runs that ended so many seconds ago, or earlier; return how many.

    What the engine keeps of a run goes first: after a kill in between, the rest goes the next time.
    """
    count = 0
    with store.database.transact() as connection:  # a constant: for a function no server uses its indexes
        latest = connection.execute(sa.select(store.database.now)).scalar_one() - int(seconds * 1000)
    while removed := _remove_some(store, latest):
        count += removed
    _remove_children(store, latest)
    _remove_documents(store)
    return count


def _remove_some(store: RunStore, latest: int) -> int:
    database = store.database
    is_old = sa.and_(runs.c.phase.in_(ENDED), runs.c.ended_at <= latest)  # there is an index of both
    with database.transact() as connection:
        found = connection.execute(sa.select(runs.c.run, runs.c.segment).where(is_old).limit(_AT_ONCE)).all()
    for part in chunk(name_segment(run, each) for run, last in found for each in range(last + 1)):
        with database.ask():
            store.queues.client.delete_workflows(list(part))
    names = [run for run, _ in found]
    with database.transact() as connection:
        connection.execute(messages.delete().where(messages.c.run.in_(names)))
        connection.execute(runs.delete().where(runs.c.run.in_(names)))
    return len(names)


def _remove_documents(store: RunStore) -> None:
    """Remove the plans and scenarios of which there is no run."""
    used = (sa.select(each).where(each.is_not(None)) for each in (runs.c.plan, runs.c.scenario, runs.c.prologue))
    unused = sa.except_(sa.select(documents.c.digest), *used)
    with store.database.transact() as connection:
        if connection.execute(unused.limit(1)).scalar() is None:
            return
    with store.database.transact() as connection:
        if not store.database.is_sqlite:  # whoever submits a run and has kept its plan commits first
            connection.execute(sa.text(f"LOCK TABLE {documents.fullname} IN SHARE ROW EXCLUSIVE MODE"))
        connection.execute(documents.delete().where(documents.c.digest.in_(unused)))


def _remove_children(store: RunStore, latest: int) -> None:
    """Remove the requests that were cancelled, or left by a worker that has died: their runs keep the answers."""
    is_old = sa.and_(workflows.c.name == REQUEST, workflows.c.completed_at <= latest)
    query = sa.select(workflows.c.workflow_uuid).where(is_old).limit(_AT_ONCE)
    while True:
        with store.database.transact() as connection:
            found = list(connection.execute(query).scalars())
        if not found:
            return
        with store.database.ask():
            store.queues.client.delete_workflows(found)
