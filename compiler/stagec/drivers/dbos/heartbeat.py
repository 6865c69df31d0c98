"""Which workers live: each counts, and watches the counts of the others by its own clock."""

from __future__ import annotations

from time import monotonic

import sqlalchemy as sa

from stagec.core.value import value
from stagec.drivers.dbos.database import Database
from stagec.drivers.dbos.permits import end_permits
from stagec.drivers.dbos.queues import APPLICATION
from stagec.drivers.dbos.tables import permits, workers, workflows

PACE = 2.0
"""Seconds between two beats of a worker."""
PATIENCE = 15.0
"""Seconds without a beat after which a worker is dead."""


@value
class WorkerRow:
    """A worker as the database knows it; `beats` is None of one that has work and no row any more."""

    worker: str
    version: str = ""
    host: str = ""
    beats: int | None = None


class Heartbeat:
    """Tells the others that a worker lives, and finds those that do not; `patience` is in seconds."""

    def __init__(self, database: Database, own: WorkerRow, patience: float = PATIENCE) -> None:
        self._database, self._own, self._patience = database, own, patience
        self._beats = 0
        self._seen: dict[str, tuple[int | None, float]] = {}

    def beat(self, *, is_draining: bool = False) -> None:
        """Count one more; a row that others have removed is made again."""
        self._beats += 1
        with self._database.transact() as connection:
            changes = {"beats": self._beats, "is_draining": is_draining}
            changed = connection.execute(workers.update().where(workers.c.worker == self._own.worker).values(changes))
            if not changed.rowcount:
                named = {"worker": self._own.worker, "version": self._own.version, "host": self._own.host}
                now = connection.execute(sa.select(self._database.now)).scalar_one()
                connection.execute(workers.insert().values(**named, **changes, begun_at=now))

    def end(self) -> None:
        """Remove the row, and put back what could not be given up: nothing is left to be recovered."""
        self._bury(self._own.worker)

    def bury_dead(self) -> list[tuple[str, int]]:
        """Put back what dead workers had taken; return which have died, and how much they had."""
        rows, now = self._list_workers(), monotonic()
        known = {each.worker: self._seen.get(each.worker) for each in rows}
        self._seen = {
            each.worker: before if before is not None and before[0] == each.beats else (each.beats, now)
            for each in rows
            for before in [known[each.worker]]
        }
        dead = [name for name, (_, since) in self._seen.items() if now - since > self._patience]
        return [(name, self._bury(name)) for name in dead]

    def _list_workers(self) -> list[WorkerRow]:
        """Return all other workers, also those which have work and no row."""
        with self._database.transact() as connection:
            rows = connection.execute(sa.select(workers)).all()
            taken = sa.select(workflows.c.executor_id).where(_IS_TAKEN)
            held = sa.select(permits.c.worker).where(permits.c.ended_at.is_(None))
            busy = connection.execute(sa.union(taken, held)).scalars().all()
        found = {row.worker: WorkerRow(row.worker, row.version, row.host, row.beats) for row in rows}
        found = {name: WorkerRow(name) for name in busy if name} | found
        return [each for name, each in found.items() if name != self._own.worker]

    def _bury(self, worker: str) -> int:
        with self._database.transact() as connection:
            count = put_back(connection, workflows.c.executor_id == worker)
            end_permits(connection, self._database, permits.c.worker == worker)
            connection.execute(workers.delete().where(workers.c.worker == worker))
        self._seen.pop(worker, None)
        return count

    def put_back_lost(self, held: frozenset[str], before: frozenset[str]) -> frozenset[str]:
        """Put back what this worker has taken and does not execute, if that was so `before`; return what is so now.

        That happens when the database could not be written when a segment ended.
        """
        is_own = sa.and_(_IS_TAKEN, workflows.c.executor_id == self._own.worker)
        with self._database.transact() as connection:
            taken = connection.execute(sa.select(workflows.c.workflow_uuid).where(is_own)).scalars().all()
            lost = frozenset(taken) - held
            again = lost & before
            if again:
                put_back(connection, sa.and_(is_own, workflows.c.workflow_uuid.in_(again)))
        return lost - again


_IS_TAKEN = sa.and_(workflows.c.status == "PENDING", workflows.c.application_name == APPLICATION)


def put_back(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> int:
    """Let others take what somebody has taken: what the engine itself does with the work of executors that are gone."""
    changes = {"status": "ENQUEUED", "owner_xid": None, "started_at_epoch_ms": None}
    return connection.execute(workflows.update().where(_IS_TAKEN, condition).values(changes)).rowcount
