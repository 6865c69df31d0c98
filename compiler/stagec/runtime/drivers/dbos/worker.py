"""A worker: takes segments of runs from the queues of a database and executes them, until it is told to stop."""

from __future__ import annotations

import logging
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Generic, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSPortableJSONSerializer
from dbos import error as dbos_error

from stagec.core.failure import Failure
from stagec.core.json import Object
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import format_count, quote
from stagec.runtime.drivers.dbos.database import Database, check, permits, workers, workflows
from stagec.runtime.drivers.dbos.execution_setup import (
    FEWEST,
    ExecutionSetup,
    OpenWorld,
    RefusedRunError,
    Turns,
    choose_turns,
)
from stagec.runtime.drivers.dbos.fan_out import FanOut, is_worth_telling
from stagec.runtime.drivers.dbos.queues import APPLICATION, REQUEST, SEGMENT, Permits, end_permits
from stagec.runtime.drivers.dbos.run_records import APPLICATION_VERSION, RunPhase, RunRecord, Settlement, TakenUp
from stagec.runtime.drivers.dbos.run_store import RunStore, UnknownPlanError, remove_old
from stagec.runtime.drivers.dbos.schedules import Schedules
from stagec.runtime.drivers.dbos.segment import Segment, Word, execute_child
from stagec.runtime.drivers.dbos.transitions import Transitions
from stagec.runtime.drivers.following import UnreachableError

_FAILURES = 8
"""Segments in a row that may fail before a person has to look at a run."""
_SOONEST, _LATEST = 2_000, 60_000
"""Milliseconds after which a run is offered again that a worker has given back: at first, and at last."""


def give_back(record: RunRecord, reason: str) -> Settlement:
    """Return how a run stands that goes on a little later, and later each time."""
    delay = min(_LATEST, _SOONEST * 2 ** min(record.refusals, 10))
    return Settlement(RunPhase.WAITING, reason, delay=delay, is_refusal=True)


def settle_broken(transitions: Transitions) -> None:
    """Settle the segments that the engine has given up."""
    for record in transitions.list_broken(("ERROR",)):  # the database failed, and the engine with it
        again, reason = record.refusals < _FAILURES, "its segment has failed"
        transitions.settle(record, give_back(record, reason) if again else Settlement(RunPhase.INTERRUPTED, reason))
    for record in transitions.list_broken(("CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")):
        reason = "the engine has abandoned it: its workers have died"
        transitions.settle(record, Settlement(RunPhase.INTERRUPTED, reason))


T = TypeVar("T")


class UnderWay(Generic[T]):
    """A list of what is executed now; may be used in several threads.

    An entry may be there twice: a worker that seemed dead may take a segment again while it still executes it.
    """

    def __init__(self) -> None:
        self._entries = list[T]()
        self._lock = Lock()

    def list_all(self) -> list[T]:
        """Return all entries."""
        with self._lock:
            return list(self._entries)

    @contextmanager
    def hold(self, entry: T) -> Iterator[None]:
        """Have an entry in the list while the body executes it."""
        with self._lock:
            self._entries.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._entries.remove(entry)


class Tally:
    """Counts by name; may be used in several threads."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def count(self, name: str) -> None:
        """Count something once more."""
        with self._lock:
            self._counts[name] += 1

    def counts(self) -> Mapping[str, int]:
        """Return the counters."""
        with self._lock:
            return dict(self._counts)


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
    """Return taken work to the queue, as the engine does with the work of dead executors."""
    changes = {"status": "ENQUEUED", "owner_xid": None, "started_at_epoch_ms": None}
    return connection.execute(workflows.update().where(_IS_TAKEN, condition).values(changes)).rowcount


_LOOK = 0.25
"""Seconds between two looks at the signals of the runs that are under way."""
_LOOK_AT_CHILDREN = 0.1
"""Seconds between two looks at the requests that other workers make; nothing is asked while there are none."""
_TIDYING = 600.0
"""Seconds between two removals of what is too old."""
_ATTEMPTS = 50
"""Workers that may die of one segment."""


@value
class WorkerSettings:
    """The settings of a worker. `open_world` makes worlds, `tell` takes sentences for the person who watches it.

    `grace` are the seconds in which requests that are under way may end when it is told to stop. `keep` are the
    seconds for which runs that have ended are kept, None for ever. With `fans_out`, requests of a run that are open
    together are put into a queue; every worker takes what is there.
    """

    open_world: OpenWorld
    tell: Callable[[str], None]
    concurrency: int | None = None
    grace: float = 30.0
    patience: float = PATIENCE
    keep: float | None = None
    version: str = APPLICATION_VERSION
    fans_out: bool = False


class Worker:
    """Executes runs of a database. A process has one of these at a time: the engine has one state for each process."""

    def __init__(self, database: Database, settings: WorkerSettings) -> None:
        self.name = f"{platform.node()[:40]}-{os.getpid()}-{os.urandom(4).hex()}"
        self.tally = Tally()
        self._database, self._settings = database, settings
        self._store = RunStore(database)
        self._transitions = Transitions(self._store)
        self._schedules = Schedules(self._store)
        redactor = Redactor(os.environ)
        self._permits = Permits(self._store.queues, database, self.name)
        self._fan_out = FanOut(self._transitions, self.name)
        common = (self._transitions, settings.open_world, redactor, self._permits, Turns(), self.tally.count)
        self._setup = ExecutionSetup(*common, self._fan_out if settings.fans_out else None)
        own = WorkerRow(self.name, settings.version, platform.node())
        self._heartbeat = Heartbeat(database, own, settings.patience)
        self._segments = UnderWay[Segment]()
        self._workflows = UnderWay[str]()
        """The ids of those that it has taken and not finished, also of what waits for a turn."""
        self._over, self._is_draining = Flag(), Flag()
        self._lost: frozenset[str] = frozenset()
        self._troubles = {"start": "is starting"}
        self._fault: BaseException | None = None

    @property
    def trouble(self) -> str:
        """Why it can take no work now; empty when it can."""
        return "is draining" if self._is_draining.is_set() else next(iter(tuple(self._troubles.values())), "")

    @property
    def under_way(self) -> int:
        """How many segments it executes."""
        return len(self._segments.list_all())

    def count_runs(self) -> Mapping[RunPhase, int]:
        """Return how many runs of the database stand how."""
        return self._store.count_phases()

    def work(self) -> None:
        """Take work until `drain` is called and what is under way has been handed on; raises `Failure`."""
        check(self._database)
        self._store.queues.prepare(self._settings.concurrency, has_children=self._settings.fans_out)
        self._heartbeat.beat()
        looks = (
            *(self._look_at_signals, self._look_at_children, self._look_at_schedules),
            self._look_around,
            self._tidy,
        )
        threads = [Thread(target=self._keep_looking, args=(each,), daemon=True) for each in looks]
        try:
            self._launch()
            self._troubles.pop("start")
            for each in threads:
                each.start()
            while not self._is_draining.is_set():  # in short: what handles a signal sets it in this thread
                sleep(_LOOK)
            self._stop()
        finally:
            self._over.set()
            for each in threads:
                each.join(PACE / len(threads))
            self._heartbeat.end()
        if self._fault is not None:
            raise self._fault

    def drain(self) -> None:
        """Take no more work, and hand on what is under way; a signal handler may call it."""
        self._is_draining.set()

    def _launch(self) -> None:
        logging.getLogger("dbos").addFilter(is_worth_telling)
        self._setup.turns.allow(choose_turns(self._database) - FEWEST)
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_engine": self._database.engine,
                "application_version": self._settings.version,
                "executor_id": self.name,
                "serializer": DBOSPortableJSONSerializer(),
                "run_migrations": False,
                "use_listen_notify": False,
                "log_level": "ERROR",
            }
        )

        def execute(run: str, number: int) -> str:  # the engine has its own idea of methods
            return self._hold(partial(self._execute, run, number))

        def execute_child(run: str, number: int, key: str) -> Object:
            return self._hold(partial(self._execute_child, run, number, key))

        DBOS.workflow(name=SEGMENT, max_recovery_attempts=_ATTEMPTS)(execute)
        DBOS.workflow(name=REQUEST, max_recovery_attempts=_ATTEMPTS)(execute_child)
        DBOS.launch()

    def _hold(self, work: Callable[[], T]) -> T:
        """Do the work of the workflow in which this is called."""
        with self._workflows.hold(str(DBOS.workflow_id)):
            return work()

    def _stop(self) -> None:
        """Let every segment end at its next event, and when the grace is over at once."""
        self._try("beat", partial(self._heartbeat.beat, is_draining=True))  # without a database, the grace holds, too
        end = monotonic() + self._settings.grace
        Thread(target=self._stop_segments, args=(end,), daemon=True).start()  # it ends with all others
        DBOS.destroy(workflow_completion_timeout_sec=max(2, int(self._settings.grace) + 5))

    def _stop_segments(self, end: float) -> None:
        while not self._over.wait(_LOOK):
            for each in self._segments.list_all():
                each.stop(Word.DRAIN, at_once=monotonic() > end)
            if monotonic() > end:
                self._fan_out.give_back()

    def _execute(self, run: str, number: int) -> str:
        """Execute a segment, and let its run stand as it says."""
        turns = self._setup.turns
        with turns.take():
            given = self._transitions.take_up(run)
        if not given.is_in(number):
            return "obsolete"
        settled = self._play(given)
        with turns.take():
            has_settled = self._transitions.settle(given.record, settled, given.sent)
        if has_settled and settled.phase is not RunPhase.ACTIVE:
            self.tally.count(f"runs {settled.phase}")
        return str(settled.phase)

    def _play(self, given: TakenUp) -> Settlement:
        """Execute a segment; a run that this worker cannot execute is given back."""
        record = given.record
        try:
            segment = Segment(self._setup, self._store.load_program(record), given)
            self.tally.count("segments")
            with self._segments.hold(segment):
                return segment.execute()
        except (UnknownPlanError, RefusedRunError) as refusal:
            reason = f"worker {self.name} cannot run it: {self._setup.redactor.redact_output(str(refusal))}"
            self._settings.tell(f"run {record.run} is returned: {reason}")
            return give_back(record, reason)
        except UnreachableError as failure:  # whatever has been recorded is there
            return give_back(record, str(failure))
        except (dbos_error.DBOSException, sa.exc.SQLAlchemyError):
            raise  # another segment goes on
        except Exception as error:  # whatever somebody's world raises; the engine would keep it with its secrets
            return Settlement(RunPhase.INTERRUPTED, self._setup.tell(error))

    def _execute_child(self, run: str, number: int, key: str) -> Object:
        """Make one request of a run whose segment waits for it, perhaps in another worker; return nothing if not."""
        try:
            given = self._transitions.take_up(run)
            if not given.is_in(number):
                return {}
            self.tally.count("children")
            return execute_child(self._setup, self._fan_out, given.record, key)
        except Exception as error:
            self._settings.tell(f"the request {quote(key)} of run {run} is returned: {self._setup.tell(error)}")
            return {}

    def _keep_looking(self, look: Callable[[], None]) -> None:
        """Do the work of a thread; a fault in it ends the worker, which would take work and seem dead otherwise."""
        try:
            look()
        except BaseException as fault:
            self._fault = fault
            self.drain()

    def _look_at_signals(self) -> None:
        """Hand signals to the segments that are under way."""
        while not self._over.wait(_LOOK):
            segments = self._segments.list_all()
            if segments:
                self._try("signals", partial(self._hand_over, segments))

    def _look_at_children(self) -> None:
        """Wake segments whose children have answered, and cancel children that nobody needs."""
        while not self._over.wait(_LOOK_AT_CHILDREN):
            self._try("children", self._fan_out.look)

    def _look_at_schedules(self) -> None:
        """Start what is due, of which there may be much at once: in a thread of its own, as in `_tidy`."""
        told = set[str]()

        def tell_once(reason: str) -> None:
            if reason not in told:
                told.add(reason)
                self._settings.tell(reason)

        while not self._over.wait(PACE / 2):
            self._try("schedules", partial(self._schedules.start_due, tell_once, self._settings.version))

    def _hand_over(self, segments: Sequence[Segment]) -> None:
        found = self._transitions.look(tuple({each.record.run for each in segments}))
        for each in segments:
            each.hear(found.get(each.record.run, {}).values())

    def _look_around(self) -> None:
        """Beat, wake what is due, and put back what dead workers have left."""
        rounds = 0
        while not self._over.wait(PACE / 2):
            rounds += 1
            if rounds % 2 == 0:
                self._try("beat", lambda: self._heartbeat.beat(is_draining=self._is_draining.is_set()))
                self._try("dead", self._bury_dead)
            self._try("due", self._transitions.wake_due)
            if rounds % 15 == 0:
                self._try("lost", self._put_back_lost)
                self._try("permits", self._permits.end_lost)

    def _tidy(self) -> None:
        """Remove what is too old: in a thread of its own, because a worker that does not beat meanwhile seems dead."""
        keep, pause = self._settings.keep, PACE
        while keep is not None and not self._over.wait(pause):
            pause = _TIDYING if self._try("old", partial(remove_old, self._store, keep)) else PATIENCE

    def _bury_dead(self) -> None:
        for name, count in self._heartbeat.bury_dead():
            self.tally.count("workers recovered")
            self._settings.tell(f"worker {name} is gone: {format_count(count, 'request or segment')} put back")

    def _put_back_lost(self) -> None:
        self._lost = self._heartbeat.put_back_lost(frozenset(self._workflows.list_all()), self._lost)
        settle_broken(self._transitions)

    def _try(self, name: str, work: Callable[[], object]) -> bool:
        """Do something that is done again later if the database cannot be asked now; return whether it could.

        What is wrong is said once.
        """
        try:
            work()
        except Failure as failure:
            if not self._troubles:
                self._settings.tell(str(failure))
            self._troubles[name] = str(failure)
            return False
        self._troubles.pop(name, None)
        return True
