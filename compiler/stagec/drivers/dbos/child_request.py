"""One request of a run, executed as a workflow of its own: by whichever worker has taken it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from stagec.core.json import Object
from stagec.drivers.dbos.execution_setup import ExecutionSetup
from stagec.drivers.dbos.fan_out import FanOut
from stagec.drivers.dbos.permits import PermittedWorld
from stagec.drivers.dbos.run_progress import RunProgress
from stagec.drivers.dbos.run_records import RunRecord, name_child
from stagec.drivers.redaction import redact_answer
from stagec.runtime.exchange import Effect
from stagec.runtime.readable_answers import read_answer
from stagec.world.provider_outage import ProviderOutage

_NOTHING: Object = {}
"""What a child leaves that nobody has executed: whoever has the run makes the request."""


class ChildRequest:
    """A request, while it is under way; `cancel` comes in other threads."""

    def __init__(self, setup: ExecutionSetup, record: RunRecord, key: str) -> None:
        self._setup, self._record, self._key = setup, record, key
        self._cancel_request: Callable[[], None] | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """End it; whatever comes of it is nothing."""
        self._is_cancelled = True
        if self._cancel_request is not None:
            self._cancel_request()

    def execute(self) -> Object:
        """Return the answer, why there is none, or nothing if it is for another worker to find one."""
        store = self._setup.transitions.store
        history = store.read_history(self._record)
        progress = RunProgress(store.load_program(self._record))
        with ExitStack() as opened:
            world, _ = self._setup.enter_world(opened, self._record, progress.program, history.last_change)
            progress.restore(history, world)
            effect = progress.state.pending.get(self._key)
            told = _NOTHING if effect is None else self._ask(PermittedWorld(world, self._setup.permits), effect)
        return _NOTHING if self._is_cancelled else told

    def _ask(self, world: PermittedWorld, effect: Effect) -> Object:
        self._cancel_request = partial(world.cancel, self._key)
        if self._is_cancelled:
            return _NOTHING
        try:
            answer = read_answer(effect, world.answer(effect))
        except ProviderOutage as outage:
            return {"outage": {**outage.to_json(), "reason": self._setup.tell(outage)}}
        except Exception as error:  # whatever somebody's world raises interrupts the run, where that is under way
            return {"failure": self._setup.tell(error)}
        return {"answer": redact_answer(self._setup.redactor, answer, effect)}


def execute_child(setup: ExecutionSetup, fan_out: FanOut, record: RunRecord, key: str) -> Object:
    """Make one request of a run, whose segment waits for it; return nothing if that is for another worker to do."""
    child = ChildRequest(setup, record, key)
    with fan_out.executing(name_child(record, key), child.cancel):
        return child.execute()
