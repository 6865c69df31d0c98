"""The world of this machine: real programs, real waits, and callables that are allowed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from shlex import join
from threading import Event, Lock

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.machine.exchange import (
    Execute,
    Hook,
    Interrupt,
    Preserve,
    Publish,
    Run,
    Shell,
    StageRequest,
    Wait,
    read_key,
)
from stagec.runtime.world.commands import CommandLine, CommandLock, run, select_variables
from stagec.runtime.world.composed import call
from stagec.runtime.world.supervised_program import Link

TYPE_CHECKING = False  # what executes stages is loaded where a run has some
if TYPE_CHECKING:
    from stagec.runtime.world.stage_world import StageWorld

LocalRequest = Run | Shell | Hook | Wait | StageRequest
"""The requests that a scenario leaves to the machine on which a run executes."""

LIMIT = 600
"""Seconds after which a command is stopped of which the plan does not say when."""


@value
class Permissions:
    """The rights of a plan on this machine: to call Python callables, and to see variables of the environment by name.

    `seconds` is how long a command may take of which the plan does not say it. `executor` is the command line of
    stages that have none.
    """

    calls: bool = False
    variables: tuple[str, ...] = ()
    seconds: float = LIMIT
    executor: tuple[str, ...] = ()


class LocalWorld:
    """Answers the requests that a scenario leaves open; no command begins before those of an earlier process are gone.

    It may be asked in several threads. Callables are called in the thread that executes the run: they may change what
    belongs to the whole process. Stages start in `folder`, by default the current one.
    """

    def __init__(
        self,
        permissions: Permissions,
        turns: CommandLock | None = None,
        stages: StageWorld | None = None,
        folder: str | None = None,
    ) -> None:
        self._permissions = permissions
        self._turns = turns
        self._stages = stages
        self._folder = folder
        self._redactor = Redactor(os.environ)
        self._lock = Lock()
        self._stops: dict[str, Callable[[], None]] = {}
        self._cancelled: set[str] = set()

    def answer(self, effect: LocalRequest) -> Json:
        """Return the answer to a request, or raise `Failure`."""
        match effect:
            case Run():
                return self._run(effect.key, effect.words, effect.milliseconds)
            case Shell():
                return self._run(effect.key, ("sh", "-c", effect.command), int(self._permissions.seconds * 1000))
            case Wait():
                over = Event()
                with self._stoppable(effect.key, over.set):
                    over.wait(min(effect.milliseconds, _LONGEST) / 1000)
                return {}
            case Hook():
                if not self._permissions.calls:
                    raise Failure(f"the hook {quote(effect.call)} may not be called: --allow-hooks allows it")
                return call(effect.call, effect.given, self._redactor)
            case Execute():
                return self._execute(effect)
            case Publish() | Preserve() | Interrupt():
                return self._find_stages(effect).answer(effect)

    def _execute(self, effect: Execute) -> Json:
        from stagec.runtime.world.stage_world import Surroundings

        stages = self._find_stages(effect)
        variables = select_variables(os.environ, self._permissions.variables)
        folder = os.path.abspath(self._folder or os.curdir)
        held, link = self._hold(), Link()
        around = Surroundings(folder, variables, held, self._permissions.executor)
        with self._stoppable(effect.key, link.stop):
            return stages.execute(effect, around, self._redactor, link)

    def _find_stages(self, effect: StageRequest) -> StageWorld:
        if self._stages is None:
            raise Failure(f"nothing answers the request {quote(effect.key)}: this run has no directory for stages")
        return self._stages

    def _hold(self) -> int | None:
        """Return the open file that all processes of the run hold, once those of an earlier process are gone."""
        with self._lock:
            return None if self._turns is None else self._turns.hold()

    def _run(self, key: str, words: tuple[str, ...], milliseconds: int) -> Mapping[str, Json]:
        environment = dict(select_variables(os.environ, self._permissions.variables))
        # what a program is told of the request: the same key when it is run again after a crash
        environment |= {"STAGEC_IDEMPOTENCY_KEY": key, "STAGEC_RUN_ID": read_key(key).run}
        held = self._hold()
        link = Link()
        with self._stoppable(key, link.stop):
            return run(CommandLine(words, milliseconds, environment, held), self._redactor, link)

    def overlaps(self, effect: LocalRequest) -> bool:
        """Tell whether a request may be under way beside others; what takes no time has its turn at once."""
        return isinstance(effect, Run | Shell | Wait | Execute)

    def cancel(self, key: str) -> None:
        """Stop a command, or a wait, whose answer nobody needs any more."""
        self._cancelled.add(key)
        stop = self._stops.get(key)
        if stop is not None:
            stop()

    @contextmanager
    def _stoppable(self, key: str, stop: Callable[[], None]) -> Iterator[None]:
        """Let a request be cancelled while the body answers it."""
        self._stops[key] = stop
        if key in self._cancelled:  # before it has begun
            stop()
        try:
            yield
        finally:
            del self._stops[key]


_LONGEST = 1_000_000_000_000
"""Milliseconds that a wait lasts at most, some thirty years; systems cannot wait for ever."""


class ClosedWorld:
    """A world in which nothing happens: no program is run, nothing is called, and no time passes."""

    def overlaps(self, _effect: LocalRequest) -> bool:
        """Tell that nothing is under way beside anything: nothing takes time."""
        return False

    def cancel(self, key: str) -> None:
        """Stop nothing."""

    def answer(self, effect: LocalRequest) -> Json:
        """Return that a wait is over; raise `Failure` for everything else."""
        if isinstance(effect, Wait):
            return {}
        if isinstance(effect, StageRequest):
            raise Failure(f"stages do not run here, and nothing answers the request {quote(effect.key)}")
        if isinstance(effect, Hook):
            what = f"{quote(effect.call)} to 'hooks'"
        else:
            what = f"{quote(join(effect.words) if isinstance(effect, Run) else effect.command)} to 'commands'"
        raise Failure(
            f"programs and callables do not run here, and the scenario has no answer to {quote(effect.key)}: add {what}"
        )
