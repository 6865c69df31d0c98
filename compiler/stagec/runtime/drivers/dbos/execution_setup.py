"""The setup of a worker: the worlds of runs, the engine that advances them, and limits of their requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from traceback import extract_tb
from typing import Protocol

import sqlalchemy as sa

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.runtime.drivers.dbos.database import Database
from stagec.runtime.drivers.dbos.fan_out import FanOut
from stagec.runtime.drivers.dbos.queues import Permits
from stagec.runtime.drivers.dbos.run_records import RunRecord, make_storable
from stagec.runtime.drivers.dbos.transitions import Transitions
from stagec.runtime.machine import Program, load
from stagec.runtime.machine.exchange import Effect, Event, Replanned
from stagec.runtime.machine.state import StepResult

FEWEST, _MOST = 3, 16
_TRIPS, _COMPUTING = 8, 0.003
"""How often an event asks the database, and for how many seconds it computes."""
_TRIES = 5


class Turns:
    """Limits how many threads compete for the global interpreter lock (GIL) of Python.

    Sixteen threads that compete for it execute half as many events as two threads do. A thread that waits for a model
    or a tool gives its turn back while it waits.
    """

    def __init__(self) -> None:
        self._free: SimpleQueue[None] = SimpleQueue()
        self.allow(FEWEST)

    def allow(self, more: int) -> None:
        """Let more threads have a turn at the same time."""
        for _ in range(more):
            self._free.put(None)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Do the body in a turn."""
        self._free.get()
        try:
            yield
        finally:
            self._free.put(None)

    @contextmanager
    def give_back(self) -> Iterator[None]:
        """Do the body, which waits for somebody, while another thread has the turn."""
        self._free.put(None)
        try:
            yield
        finally:
            self._free.get()


def choose_turns(database: Database) -> int:
    """Return how many turns there should be: while some threads wait for a distant database, others can compute."""
    with database.ask_once() as connection:
        times = []
        for _ in range(_TRIES):
            begun = perf_counter()
            connection.execute(sa.text("SELECT 1")).all()
            times.append(perf_counter() - begun)
    return min(_MOST, FEWEST + round(_TRIPS * min(times) / _COMPUTING))


class RefusedRunError(Exception):
    """A run that this worker cannot execute; others may."""


class RunWorld(Protocol):
    """The world of one run; `takes` tells of a question to people whether it answers that, too.

    `name_provider` names the provider of models that a request goes to, for the limits that hold there.
    """

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether it answers a request."""

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""

    def observe(self, event: Event, step: StepResult) -> None:
        """Take an event of the run from before this process had it, or from another process."""


class OpenWorld(Protocol):
    """Makes worlds of runs."""

    def __call__(self, record: RunRecord, program: Program, child: str = "", /) -> AbstractContextManager[RunWorld]:
        """Make the world of a run; nothing that it has started is left when the body ends. Raises `Failure`.

        `child` is the key of the one request that is made there, while the run has another world elsewhere.
        """


class CancelledWorld:
    """The world of a run that is to be cancelled and whose world cannot be opened: nothing is answered there."""

    def answer(self, effect: Effect) -> Json:
        """Refuse to answer."""
        raise Failure(f"the run is cancelled: nothing answers the request {quote(effect.key)}")

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that a request may be under way beside others."""
        return True

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def takes(self, _effect: Effect) -> bool:
        """Tell that it answers no question."""
        return False

    def name_provider(self, _effect: Effect) -> str:
        """Return that no request goes to a provider of models."""
        return ""

    def observe(self, event: Event, step: StepResult) -> None:
        """Remember nothing."""


@contextmanager
def open_cancelled_world(_record: RunRecord, _program: Program, _child: str = "") -> Iterator[RunWorld]:
    """Open the world of a run in which nothing is answered."""
    yield CancelledWorld()


@value
class ExecutionSetup:
    """The parts that execute runs: they advance them, make worlds, remove secrets from events, and limit requests.

    With `fan_out`, requests that are open together become workflows of the engine.
    """

    transitions: Transitions
    open_world: OpenWorld
    redactor: Redactor
    permits: Permits
    turns: Turns
    count: Callable[[str], None]
    fan_out: FanOut | None = None

    def enter_world(
        self, opened: ExitStack, record: RunRecord, program: Program, latest: Replanned | None, child: str = ""
    ) -> tuple[RunWorld, Program]:
        """Open the world of a run; return it and the program with which the run continues.

        `latest` is the last change of its plan, `child` the key of a request that is made there alone. Raises
        `RefusedRunError` if this worker cannot execute the run.
        """
        if latest is not None:
            record = replace(record, plan=latest.digest, signature=latest.signature)
            program = load(latest.plan.encode())
        try:
            return opened.enter_context(self.open_world(record, program, child)), program
        except Failure as failure:
            raise RefusedRunError(str(failure)) from failure

    def tell(self, error: Exception) -> str:
        """Return the message of an error for a database, without secrets; of an internal error with its place."""
        told = str(error)
        if not isinstance(error, Failure):
            places = [f" ({Path(each.filename).name}:{each.lineno})" for each in extract_tb(error.__traceback__)[-1:]]
            told = f"internal error: {type(error).__name__}: {error}{''.join(places)}"
        return make_storable(self.redactor.redact_output(told))
