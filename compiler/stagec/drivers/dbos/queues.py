"""The queues of a database: who waits there for a worker, and how many may be under way or begin in a time."""

from __future__ import annotations

from time import monotonic
from typing import Protocol

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions
from dbos._queue import QueueRateLimit

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.drivers.dbos.database import Database
from stagec.drivers.dbos.run_records import name_segment
from stagec.drivers.dbos.tables import queues

APPLICATION = "stagec"
SEGMENT = "stagec.segment"
"""The name of what the engine executes: a segment of a run."""
RUNS = "stagec.runs"
"""The queue of segments."""
_OF_TENANTS = f"{RUNS}."
PACE = 0.1
"""Seconds between two looks of a worker at a queue."""
_FRESH = 5.0
"""Seconds for which the names of queues are remembered."""
MOST = 16
"""Segments that a worker executes at the same time, if nobody says otherwise."""


class Queued(Protocol):
    """What decides where a run waits, and before whom."""

    @property
    def version(self) -> str:
        """The version of workers that can execute it."""

    @property
    def tenant(self) -> str:
        """Whose run it is."""

    @property
    def priority(self) -> int:
        """1 comes first."""


@value
class QueueLimit:
    """What holds for a queue: how many may be under way, and how many may begin in so many seconds; None: any number.

    `tenant` is empty for each that has no limit of its own.
    """

    tenant: str = ""
    concurrency: int | None = None
    begins: int | None = None
    seconds: float = 1.0


class Queues:
    """The queues of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._client: DBOSClient | None = None
        self._known: frozenset[str] = frozenset()
        self._until = 0.0

    @property
    def client(self) -> DBOSClient:
        """What speaks to the engine without executing anything."""
        if self._client is None:
            self._client = DBOSClient(
                system_database_engine=self._database.engine,
                serializer=DBOSPortableJSONSerializer(),
                application_name=APPLICATION,
                lazy=True,  # it may be made in a transaction, beside which nobody asks for a connection
                retry_connection_errors=False,
            )
        return self._client

    def enqueue(self, connection: sa.Connection, run: str, number: int, given: Queued) -> None:
        """Put a segment of a run into its queue, as part of a transaction."""
        own = f"{_OF_TENANTS}{given.tenant}"
        options: EnqueueOptions = {
            "workflow_name": SEGMENT,
            "queue_name": own if own in self._list_known(connection) else RUNS,
            "workflow_id": name_segment(run, number),
            "app_version": given.version,
            "priority": given.priority,
            "queue_partition_key": given.tenant,
        }
        self.client.enqueue_in_transaction(connection, options, run, number)

    def _list_known(self, connection: sa.Connection) -> frozenset[str]:
        """Return the names of all queues, as they were a few seconds ago."""
        if monotonic() > self._until:
            self._known = frozenset(connection.execute(sa.select(queues.c.name)).scalars())
            self._until = monotonic() + _FRESH
        return self._known

    def prepare(self, concurrency: int | None) -> None:
        """Make the queues that every database has; `concurrency` is how many segments each worker executes at once."""
        known = {queue.name: queue for queue in self.client.list_queues()}
        most = MOST if concurrency is None else concurrency
        if RUNS not in known:
            self.client.register_queue(RUNS, worker_concurrency=most, polling_interval_sec=PACE)
        if concurrency is not None:
            for name, queue in known.items():
                if name == RUNS or name.startswith(_OF_TENANTS):
                    queue.set_worker_concurrency(concurrency)

    def set_limit(self, limit: QueueLimit) -> None:
        """Let a limit hold from the next look of each worker on."""
        rate: QueueRateLimit | None = None if limit.begins is None else {"limit": limit.begins, "period": limit.seconds}
        if not limit.tenant:
            queue = self.client.retrieve_queue(RUNS)
            if queue is None:
                raise Failure(f"the database {self._database.name} has no queues: 'stagec database migrate' makes them")
            queue.set_partition_concurrency(limit.concurrency)
            queue.set_partition_limiter(rate)
            return
        name = f"{_OF_TENANTS}{limit.tenant}"
        self.client.register_queue(name, global_concurrency=limit.concurrency, limiter=rate, polling_interval_sec=PACE)

    def list_limits(self) -> list[QueueLimit]:
        """Return what holds."""
        found = []
        for queue in self.client.list_queues():
            most, rate = queue.global_concurrency, queue.limiter
            if queue.name == RUNS:
                most, rate = queue.partition_concurrency, queue.partition_limiter
            begins, seconds = (None, 1.0) if rate is None else (rate["limit"], rate["period"])
            is_ours = queue.name == RUNS or queue.name.startswith(_OF_TENANTS)
            if is_ours and (most is not None or begins is not None):
                found.append(QueueLimit(queue.name.removeprefix(RUNS).removeprefix("."), most, begins, seconds))
        return found
