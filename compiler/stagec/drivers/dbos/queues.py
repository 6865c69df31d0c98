"""The queues of a database: who waits there for a worker, and how many may be under way or begin in a time."""

from __future__ import annotations

from time import monotonic
from typing import Protocol

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions, Queue

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.drivers.dbos.database import Database
from stagec.drivers.dbos.run_records import RunRecord, name_child, name_segment
from stagec.drivers.dbos.tables import provider_limits, queues

APPLICATION = "stagec"
SEGMENT = "stagec.segment"
"""The name of what the engine executes: a segment of a run."""
RUNS = "stagec.runs"
"""The queue of segments."""
REQUEST = "stagec.request"
"""The name of the other thing that the engine executes: a request of a run, which is open beside others."""
REQUESTS = "stagec.requests"
"""The queue of requests; it is there as soon as a worker puts some into it."""
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

    What is counted are segments of the runs of a tenant, which is empty for each that has no limit of its own. Where
    `provider` has a name, requests to this provider of models are counted instead.
    """

    tenant: str = ""
    concurrency: int | None = None
    begins: int | None = None
    seconds: float = 1.0
    provider: str = ""

    @property
    def holds(self) -> bool:
        """Whether it limits anything."""
        return self.concurrency is not None or self.begins is not None


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

    def enqueue_child(self, record: RunRecord, key: str) -> None:
        """Put a request of a run into its queue, unless it is there already."""
        options: EnqueueOptions = {
            "workflow_name": REQUEST,
            "queue_name": REQUESTS,
            "workflow_id": name_child(record, key),
            "app_version": record.version,
            "priority": record.priority,
        }
        self.client.enqueue(options, record.run, record.segment, key)

    def _list_known(self, connection: sa.Connection) -> frozenset[str]:
        """Return the names of all queues, as they were a few seconds ago."""
        if monotonic() > self._until:
            self._known = frozenset(connection.execute(sa.select(queues.c.name)).scalars())
            self._until = monotonic() + _FRESH
        return self._known

    def prepare(self, concurrency: int | None, *, has_children: bool = False) -> None:
        """Make the queues that are not there; `concurrency` is how many segments each worker executes at once.

        As many requests that are children are executed beside them.
        """
        known = {queue.name: queue for queue in self.client.list_queues()}
        most = concurrency or _find_share(known.get(RUNS))
        for name in ({RUNS, REQUESTS} if has_children else {RUNS}) - known.keys():
            self.client.register_queue(name, worker_concurrency=most, polling_interval_sec=PACE)
        for name, queue in known.items():
            share = min(most, queue.global_concurrency or most)
            if (name in {RUNS, REQUESTS} or name.startswith(_OF_TENANTS)) and queue.worker_concurrency != share:
                queue.set_worker_concurrency(share)

    def set_limit(self, limit: QueueLimit) -> None:
        """Let a limit hold from the next look of each worker on."""
        if limit.provider:
            self._set_provider_limit(limit)
            return
        queue, rate, most = self.client.retrieve_queue(RUNS), limit.begins, limit.concurrency
        if queue is None:
            raise Failure(f"the database {self._database.name} has no queues: 'stagec database migrate' makes them")
        if not limit.tenant:
            queue.set_partition_concurrency(most)
            queue.set_partition_limiter(None if rate is None else {"limit": rate, "period": limit.seconds})
            return
        share = _find_share(queue)
        self.client.register_queue(
            f"{_OF_TENANTS}{limit.tenant}",
            global_concurrency=most,
            limiter=None if rate is None else {"limit": rate, "period": limit.seconds},
            worker_concurrency=min(share, most or share),
            polling_interval_sec=PACE,
        )

    def _set_provider_limit(self, limit: QueueLimit) -> None:
        is_of = provider_limits.c.provider == limit.provider
        given = {"concurrency": limit.concurrency, "begins": limit.begins, "seconds": limit.seconds}
        with self._database.transact() as connection:
            if not limit.holds:
                connection.execute(provider_limits.delete().where(is_of))
            elif not connection.execute(provider_limits.update().where(is_of).values(given)).rowcount:
                connection.execute(provider_limits.insert().values(provider=limit.provider, **given))

    def list_provider_limits(self) -> list[QueueLimit]:
        """Return what holds for providers of models."""
        with self._database.transact() as connection:
            rows = connection.execute(sa.select(provider_limits).order_by(provider_limits.c.provider)).all()
        return [QueueLimit("", row.concurrency, row.begins, row.seconds, row.provider) for row in rows]

    def lock_provider(self, connection: sa.Connection, provider: str) -> QueueLimit | None:
        """Return the limit of a provider, which nobody else reads in this way before the transaction ends."""
        is_of = provider_limits.c.provider == provider
        if self._database.is_sqlite:  # whoever reads first and writes then has no lock meanwhile
            connection.execute(provider_limits.update().where(is_of).values(provider=provider))
        row = connection.execute(sa.select(provider_limits).where(is_of).with_for_update()).one_or_none()
        return None if row is None else QueueLimit("", row.concurrency, row.begins, row.seconds, row.provider)

    def list_limits(self) -> list[QueueLimit]:
        """Return what holds: for tenants, and for providers of models."""
        found = []
        for queue in self.client.list_queues():
            most, rate = queue.global_concurrency, queue.limiter
            if queue.name == RUNS:
                most, rate = queue.partition_concurrency, queue.partition_limiter
            begins, seconds = (None, 1.0) if rate is None else (rate["limit"], rate["period"])
            if queue.name == RUNS or queue.name.startswith(_OF_TENANTS):
                found.append(QueueLimit(queue.name.removeprefix(RUNS).removeprefix("."), most, begins, seconds))
        return [each for each in found if each.holds] + self.list_provider_limits()


def _find_share(queue: Queue | None) -> int:
    """Return how many segments of a queue each worker executes at once."""
    return (None if queue is None else queue.worker_concurrency) or MOST
