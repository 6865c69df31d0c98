"""Fan-out: concurrent requests of a run, each a workflow of the engine that any worker may execute."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event as Flag
from threading import Lock
from time import sleep
from typing import TypeVar

import sqlalchemy as sa
from dbos import error as dbos_error

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.words import quote
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.dbos.database import UNFINISHED, workflows
from stagec.runtime.drivers.dbos.queues import PermittedWorld
from stagec.runtime.drivers.dbos.run_records import FoundPart, RunRecord, name_child
from stagec.runtime.drivers.dbos.transitions import Transitions
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.requests import IDLE
from stagec.runtime.machine.exchange import Effect, whole_key
from stagec.runtime.world.models.port import read_outage

T = TypeVar("T")
HearPart = Callable[[FoundPart], None]
"""Takes a part of an answer that another worker has found."""
_PACE = 0.5
"""Seconds between two tries, while the database cannot be asked."""


class Child:
    """A request that any worker may execute; `flag` is set when it is over or gone, or nobody needs it.

    `hear` takes the parts of its answer, each perhaps several times.
    """

    def __init__(self, run: str, key: str, hear: HearPart) -> None:
        self.run, self.key, self.hear = run, key, hear
        self.flag = Flag()
        self.is_cancelled = self.is_there = self.has_succeeded = False


class FanOut:
    """The children of one worker: those that it waits for, and those that it executes. Threads may share it."""

    def __init__(self, transitions: Transitions, worker: str) -> None:
        self._transitions, self._worker = transitions, worker
        self._queues, self._database = transitions.store.queues, transitions.store.database
        self._awaited: dict[str, Child] = {}
        self._executed: dict[str, Callable[[], None]] = {}
        self._lock = Lock()

    def ask(self, record: RunRecord, key: str, hear: HearPart) -> Object:
        """Let any worker answer a request of a run; return what comes of it, which is empty if nothing does.

        All parts of the answer that were found are heard when this returns.
        Whoever takes up the same segment again finds the same child. Raises `Failure` when nobody needs it any more.
        """
        name, child = name_child(record, key), Child(record.run, key, hear)
        with self._lock:
            self._awaited[name] = child
        try:
            self._insist(child, lambda: self._queues.enqueue_child(record, key))
            child.is_there = True
            child.flag.wait()
            told = self._insist(child, lambda: self._read(name) if child.has_succeeded else {})
            if told is not None:
                return told
        finally:
            with self._lock:
                self._awaited.pop(name, None)
        self._try(lambda: self._queues.client.cancel_workflow(name))
        raise Failure(f"the answer to the request {quote(key)} is no longer needed")

    def _insist(self, child: Child, work: Callable[[], T]) -> T | None:
        """Return the result of some work once the database can be asked; None if nobody needs it before."""
        while not child.is_cancelled:
            try:
                with self._database.ask():
                    return work()
            except UnreachableError:
                sleep(_PACE)
        return None

    def _read(self, name: str) -> Object:
        return object_of(self._queues.client.retrieve_workflow(name).get_result())

    def cancel(self, record: RunRecord, key: str) -> None:
        """Let nobody execute a request any more."""
        with self._lock:
            child = self._awaited.get(name_child(record, key))
        if child is not None:
            child.is_cancelled = True
            child.flag.set()

    def find_children(self, record: RunRecord, keys: Iterable[str]) -> frozenset[str]:
        """Return the requests of a run, among some, that are children."""
        names = {name_child(record, key): key for key in keys}
        query = sa.select(workflows.c.workflow_uuid).where(workflows.c.workflow_uuid.in_(names))
        with self._database.transact() as connection:
            return frozenset(names[each] for each in connection.execute(query).scalars())

    def forget(self, record: RunRecord, keys: Iterable[str]) -> None:
        """Remove the children of a run whose answers have been recorded."""
        names = [name_child(record, key) for key in keys]
        if names:
            self._try(lambda: self._queues.client.delete_workflows(names))

    def _try(self, work: Callable[[], None]) -> None:
        """Do what retention does later where the database cannot be asked now."""
        with suppress(UnreachableError), self._database.ask():
            work()

    @contextmanager
    def executing(self, name: str, cancel: Callable[[], None]) -> Iterator[None]:
        """Call `cancel` when nobody needs the child any more that the body executes.

        A worker that seemed dead may be given its own child again: the later execution cancels the earlier one.
        """
        with self._lock:
            earlier = self._executed.get(name)
            self._executed[name] = cancel
        if earlier is not None:
            earlier()
        try:
            yield
        finally:
            with self._lock:
                if self._executed.get(name) is cancel:
                    del self._executed[name]

    def give_back(self) -> None:
        """End the children that this worker executes; those who wait for them make the requests."""
        with self._lock:
            executed = tuple(self._executed.values())
        for cancel in executed:
            cancel()

    def look(self) -> None:
        """Check all children once: notify those who wait for ended ones, and cancel those that nobody needs."""
        with self._lock:
            awaited = {name: child for name, child in self._awaited.items() if child.is_there}
            executed = dict(self._executed)
        if not awaited and not executed:
            return
        columns = (workflows.c.workflow_uuid, workflows.c.status, workflows.c.executor_id)
        query = sa.select(*columns).where(workflows.c.workflow_uuid.in_({**awaited, **executed}))
        with self._database.transact() as connection:
            found = {name: (status, worker) for name, status, worker in connection.execute(query)}
        self._hear_parts(awaited.values())  # those of a child that is over are all there
        for name, child in awaited.items():
            status, _ = found.get(name, ("", None))  # somebody may have removed it
            if status not in UNFINISHED:
                child.has_succeeded = status == "SUCCESS"
                child.flag.set()
        for name, cancel in executed.items():
            if found.get(name) != ("PENDING", self._worker):
                cancel()

    def _hear_parts(self, awaited: Collection[Child]) -> None:
        """Tell the waiting requests which parts of their children's answers were found."""
        found = self._transitions.read_parts({each.run for each in awaited}) if awaited else {}
        for child in awaited:
            for each in found.get(child.run, ()):
                if whole_key(each.part.key) == child.key:
                    child.hear(each)


class FanOutWorld:
    """A world that answers one request of a run at a time, and gives all others that are open to any worker.

    What these find before there is an answer is given to `hear`, which has it recorded among the `parts`.
    """

    def __init__(
        self, world: PermittedWorld, fan_out: FanOut, record: RunRecord, parts: AnswerParts, hear: HearPart
    ) -> None:
        self._world, self._fan_out, self._record, self._parts, self._hear = world, fan_out, record, parts, hear
        self._own = Lock()
        self._begun: frozenset[str] = frozenset()
        self.answered_elsewhere: set[str] = set()

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if isinstance(effect, IDLE) or not self._world.overlaps(effect):
            return self._world.answer(effect)
        if effect.key not in self._begun and self._own.acquire(blocking=False):
            try:
                return self._world.answer(effect)
            finally:
                self._own.release()
        heard: dict[str, None] = {}

        def hear(found: FoundPart) -> None:
            heard[found.part.key] = None
            self._hear(found)

        told = self._fan_out.ask(self._record, effect.key, hear)
        if "outage" in told:
            raise read_outage(object_of(told["outage"]))
        if "failure" in told:
            raise Failure(str(told["failure"]))
        if "answer" not in told:
            self._parts.wait_for(effect.key, heard)
            return self._world.answer(effect)
        self.answered_elsewhere.add(effect.key)
        return told["answer"]

    def find_begun(self, keys: Iterable[str]) -> None:
        """Find the requests that other workers make since this segment was executed before: it waits for these."""
        self._begun = self._fan_out.find_children(self._record, keys)

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""
        return self._world.overlaps(effect)

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more, whoever executes it."""
        self._fan_out.cancel(self._record, key)
        self._world.cancel(key)

    def close(self) -> None:
        """Remove the children whose answers have been recorded."""
        self._fan_out.forget(self._record, self.answered_elsewhere)


def is_worth_telling(logged: logging.LogRecord) -> bool:
    """Tell whether it is anything but a request that was cancelled, which the engine takes for a fault."""
    return logged.exc_info is None or not isinstance(logged.exc_info[1], dbos_error.DBOSAwaitedWorkflowCancelledError)
