"""Remove runs that have ended long ago, with everything that is kept of them."""

from __future__ import annotations

import sqlalchemy as sa

from stagec.drivers.dbos.queues import REQUEST
from stagec.drivers.dbos.run_records import name_segment
from stagec.drivers.dbos.run_store import RunStore
from stagec.drivers.dbos.tables import UNFINISHED, documents, messages, runs, workflows

_AT_ONCE = 200
"""Runs that are removed in one transaction."""


def remove_old(store: RunStore, seconds: float) -> int:
    """Remove the runs that ended so many seconds ago, or earlier; return how many.

    What the engine keeps of a run goes first: after a kill in between, the rest goes the next time.
    """
    count = 0
    while removed := _remove_some(store, int(seconds * 1000)):
        count += removed
    _remove_children(store, int(seconds * 1000))
    with store.database.transact() as connection:  # plans and scenarios of which there is no run
        named = (runs.c.plan, runs.c.scenario, runs.c.prologue)
        is_used = sa.exists().where(sa.or_(*(each == documents.c.digest for each in named)))
        connection.execute(documents.delete().where(~is_used))
    return count


def _remove_some(store: RunStore, age: int) -> int:
    database = store.database
    is_old = runs.c.ended_at <= database.now - age
    with database.transact() as connection:
        found = connection.execute(sa.select(runs.c.run, runs.c.segment).where(is_old).limit(_AT_ONCE)).all()
    with database.ask():
        segments = [name_segment(run, each) for run, last in found for each in range(last + 1)]
        store.queues.client.delete_workflows(segments)
    names = [run for run, _ in found]
    with database.transact() as connection:
        connection.execute(messages.delete().where(messages.c.run.in_(names)))
        connection.execute(runs.delete().where(runs.c.run.in_(names)))
    return len(names)


def _remove_children(store: RunStore, age: int) -> None:
    """Remove the requests that were cancelled, or left by a worker that has died: their runs keep the answers."""
    is_over = workflows.c.status.not_in(UNFINISHED)
    is_old = sa.and_(workflows.c.name == REQUEST, is_over, workflows.c.updated_at <= store.database.now - age)
    query = sa.select(workflows.c.workflow_uuid).where(is_old).limit(_AT_ONCE)
    while True:
        with store.database.transact() as connection:
            found = list(connection.execute(query).scalars())
        if not found:
            return
        with store.database.ask():
            store.queues.client.delete_workflows(found)
