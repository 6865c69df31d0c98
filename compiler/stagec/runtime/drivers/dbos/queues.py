"""The queues of a database: who waits there for a worker, and how many may be under way or begin in a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event as Flag
from threading import Lock
from time import monotonic
from typing import Protocol

import sqlalchemy as sa
from dbos import DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions, Queue

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.drivers.dbos.database import Database, permits, provider_limits, queues
from stagec.runtime.drivers.dbos.run_records import RunRecord, name_child, name_segment
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.machine.exchange import Effect

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
_QUEUES_FRESH = 5.0
"""Seconds for which the names of queues are remembered."""
MOST = 16
"""Segments that a worker executes at the same time, if nobody says otherwise."""


class Queued(Protocol):
    """The queue and the priority of a run."""

    @property
    def version(self) -> str:
        """The version of workers that can execute it."""

    @property
    def tenant(self) -> str:
        """The tenant of the run."""

    @property
    def priority(self) -> int:
        """1 comes first."""


@value
class QueueLimit:
    """The limits of a queue: how many may be under way, and how many may begin in so many seconds; None: any number.

    The limit counts segments of the runs of a tenant; the tenant is empty for those without a limit of their own. Where
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
        """The client of the engine, which executes nothing."""
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
            self._until = monotonic() + _QUEUES_FRESH
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
        """Return the limits of providers of models."""
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
        """Return the limits of tenants and of providers of models."""
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


_PACE = 0.2
"""Seconds between two looks of a worker at the queue of a provider, while it has requests there."""
_PERMITS_FRESH = 2.0
"""Seconds for which the limits are remembered."""


class AskingWorld(Protocol):
    """A world of which some requests go to providers of models."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""


class Permit:
    """The place of a request in the queue of a provider; `flag` is set when it may start, or is no longer needed."""

    def __init__(self, provider: str, request: str) -> None:
        self.id = os.urandom(16).hex()
        self.provider, self.request = provider, request
        self.flag = Flag()
        self.is_given = False


class Permits:
    """The requests of one worker in the queues of providers; its methods may be called in several threads.

    A row of the table `permits` is a request that waits, is under way, or has begun in the window of a rate.
    """

    def __init__(self, queues: Queues, database: Database, worker: str) -> None:
        self._queues, self._database, self._worker = queues, database, worker
        self._held: dict[str, Permit] = {}
        self._limited: frozenset[str] = frozenset()
        self._until = 0.0
        self._lock, self._turn = Lock(), Lock()

    @property
    def limited(self) -> frozenset[str]:
        """The providers for which a limit holds, as it was a moment ago."""
        if monotonic() > self._until:
            with suppress(UnreachableError):
                self._limited = frozenset(each.provider for each in self._queues.list_provider_limits())
                self._until = monotonic() + _PERMITS_FRESH
        return self._limited

    @contextmanager
    def hold(self, provider: str, request: str) -> Iterator[None]:
        """Do the body when the limits of a provider leave room for it; raise `Failure` when nobody needs it before."""
        permit = Permit(provider, request)
        with self._lock:
            self._held[permit.id] = permit
        try:
            self._wait(permit)
            yield
        finally:
            with self._lock:
                self._held.pop(permit.id)
            with suppress(UnreachableError):  # `end_lost` does it later
                self._release(permit)

    def cancel(self, request: str) -> None:
        """Let a request wait no longer."""
        for each in self._list_held():
            if each.request == request:
                each.flag.set()

    def end_lost(self) -> None:
        """End the rows of this worker that no request has, because the database could not be written."""
        held = {each.id for each in self._list_held()}
        with self._database.transact() as connection:
            own = sa.select(permits.c.id).where(permits.c.worker == self._worker, permits.c.ended_at.is_(None))
            lost = [each for each in connection.execute(own).scalars() if each not in held]
            end_permits(connection, self._database, permits.c.id.in_(lost))

    def _wait(self, permit: Permit) -> None:
        """Wait until a request may begin; whoever waits longest asks for all requests of this worker."""
        while not permit.flag.is_set():
            if self._turn.acquire(blocking=False):
                self._try_to_admit(permit.provider)
            permit.flag.wait(_PACE)
        if not permit.is_given:
            raise Failure(f"the answer to the request {quote(permit.request)} is no longer needed")

    def _try_to_admit(self, provider: str) -> None:
        """Ask for all requests of this worker, and let another thread do so next; without a database, nobody begins."""
        try:
            self._admit(provider)
        except UnreachableError:
            return
        finally:
            self._turn.release()

    def _release(self, permit: Permit) -> None:
        """Make room for another request, and give it to one of this worker if its turn has come."""
        with self._database.transact() as connection:
            end_permits(connection, self._database, permits.c.id == permit.id)
        if any(not each.is_given and each.provider == permit.provider for each in self._list_held()):
            self._admit(permit.provider)

    def _admit(self, provider: str) -> None:
        """Let the requests of this worker begin whose turn has come: those that have waited longest, of all workers."""
        waiting = {each.id: each for each in self._list_held() if each.provider == provider and not each.is_given}
        with self._database.transact() as connection:
            given = self._give(connection, provider, waiting)
        for name in given:
            waiting[name].is_given = True
            waiting[name].flag.set()
        with self._lock:
            gone = waiting.keys() - self._held
        if gone:  # they were cancelled while this put them into the queue
            with self._database.transact() as connection:
                end_permits(connection, self._database, permits.c.id.in_(gone))

    def _give(self, connection: sa.Connection, provider: str, waiting: Mapping[str, Permit]) -> Sequence[str]:
        """Return the requests that may begin; only this transaction decides that for a provider."""
        limit = self._queues.lock_provider(connection, provider)
        if limit is None:  # it has been removed meanwhile
            return tuple(waiting)
        now = connection.execute(sa.select(self._database.now)).scalar_one()
        own = sa.select(permits.c.id, permits.c.begun_at).where(permits.c.id.in_(waiting))
        there = {row.id: row.begun_at for row in connection.execute(own)}
        named = {"provider": provider, "worker": self._worker, "asked_at": now}
        new = [{"id": name, **named} for name in waiting if name not in there]
        if new:
            connection.execute(permits.insert(), new)
        does_wait = sa.and_(permits.c.provider == provider, permits.c.begun_at.is_(None))
        line = sa.select(permits.c.id).where(does_wait).order_by(permits.c.asked_at, permits.c.id)
        first = connection.execute(line.limit(_find_room(connection, limit, now))).scalars().all()
        given = [each for each in first if each in waiting]
        connection.execute(permits.update().where(permits.c.id.in_(given)).values(begun_at=now))
        return given + [name for name, begun in there.items() if begun is not None]  # nobody heard of these

    def _list_held(self) -> list[Permit]:
        with self._lock:
            return list(self._held.values())


def _find_room(connection: sa.Connection, limit: QueueLimit, now: int) -> int:
    """Return how many requests to a provider may begin; forget those which are over and count no more."""
    is_of, earliest = permits.c.provider == limit.provider, now - int(limit.seconds * 1000)
    is_over = sa.and_(is_of, permits.c.ended_at.is_not(None), permits.c.begun_at <= earliest)
    connection.execute(permits.delete().where(is_over))
    has_begun = sa.and_(is_of, permits.c.begun_at.is_not(None))
    counts = (sa.func.count().filter(each) for each in (permits.c.ended_at.is_(None), permits.c.begun_at > earliest))
    row = connection.execute(sa.select(*counts).where(has_begun)).one()
    limits = ((limit.concurrency, int(row[0])), (limit.begins, int(row[1])))
    return max(0, min(most - used for most, used in limits if most is not None))


def end_permits(connection: sa.Connection, database: Database, condition: sa.ColumnElement[bool]) -> None:
    """Let requests be over: those which have begun still count for the rates of their providers, others are gone."""
    connection.execute(permits.delete().where(condition, permits.c.begun_at.is_(None)))
    connection.execute(permits.update().where(condition, permits.c.ended_at.is_(None)).values(ended_at=database.now))


class PermittedWorld:
    """A world whose requests to providers begin when the limits of a database leave room for them."""

    def __init__(self, world: AskingWorld, given: Permits) -> None:
        self._world, self._permits = world, given

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        provider = self._find_limited(effect)
        if not provider:
            return self._world.answer(effect)
        with self._permits.hold(provider, effect.key):
            return self._world.answer(effect)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others: all that may have to wait."""
        return bool(self._find_limited(effect)) or self._world.overlaps(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more, also one that waits."""
        self._permits.cancel(key)
        self._world.cancel(key)

    def _find_limited(self, effect: Effect) -> str:
        """Return the provider that a request goes to if a limit holds for it, the empty text otherwise."""
        limited = self._permits.limited
        provider = self._world.name_provider(effect) if limited else ""
        return provider if provider in limited else ""
