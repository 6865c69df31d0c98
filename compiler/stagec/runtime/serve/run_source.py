"""Where the runs of the page are kept: what both folders and databases tell of them, and do to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from stagec.core.json import Object
from stagec.core.value import value
from stagec.ir.plan import Plan
from stagec.runtime.drivers.following import FollowedRun, Standing
from stagec.runtime.drivers.messages import MessageKind
from stagec.runtime.machine import State
from stagec.runtime.serve.plan_shelf import ShelvedPlan
from stagec.runtime.world.questions import AskedOfPeople

BY = "page"
"""Who sends what is sent from the page."""


@value
class RunRow:
    """How a run stands, in a row: see `docs/user-guide/serve.md` for the statuses. `changed` is in milliseconds."""

    name: str
    status: str
    reason: str = ""
    plan: str = ""
    digest: str = ""
    executions: int = 0
    events: int = 0
    tokens: int = 0
    cost: str | None = None
    questions: int = 0
    changed: int = 0

    def to_json(self) -> Object:
        """Return the row as the page shows it."""
        return {name: getattr(self, name) for name in RunRow.__match_args__}


@value
class RunStamp:
    """What is another value when a run may have changed, and when it did, in seconds since 1970.

    `is_fresh` tells that it may change again without another token. `row` is how the run stands where that is known
    without reading what has happened in it.
    """

    token: tuple[object, ...]
    changed: float
    is_fresh: bool = False
    row: RunRow | None = None


@value
class StartOrder:
    """What somebody wants to be started: a plan, an entry if not its own, the inputs, and the name of the run."""

    plan: ShelvedPlan
    name: str
    entry: str | None
    inputs: Object


class SourceRun(FollowedRun, Protocol):
    """A run that is followed, and knows how it stands."""

    def describe(self, state: State, *, is_executed: bool) -> tuple[Standing, str]:
        """Return how the run stands that has come to a state, and why."""


class RunSource(Protocol):
    """Where runs are kept. What cannot be done is a `Failure`; `UnreachableError` is one that may be over soon.

    `quick` and `slow` are the seconds between two looks at it: while somebody listens, and while nobody does.
    """

    quick: float
    slow: float

    def list_stamps(self) -> Iterable[tuple[str, RunStamp]]:
        """Return the names of all runs, each with its stamp."""

    def holds(self, name: str) -> bool:
        """Tell whether there is a run of a name, maybe one that has just begun."""

    def follow(self, name: str) -> SourceRun:
        """Return a run, of which nothing has been read."""

    def answer(self, name: str, asked: AskedOfPeople, *, yes: bool) -> None:
        """Answer a question; raises `OtherAnswerError` when somebody was first."""

    def send(self, name: str, kind: MessageKind) -> bool:
        """Ask who executes a run to pause or to cancel it; return whether nobody had asked that before."""

    def cancel(self, name: str) -> None:
        """End a run that nobody executes."""

    def name_command(self, name: str, command: str) -> str:
        """Return the line of a shell with which `stagec` does something to a run."""

    def resume(self, name: str) -> None:
        """Let a run go on that was interrupted."""

    def name_run(self, name: str | None, plan: Plan) -> str:
        """Return the name of a run that is to begin, the one that somebody wants for it if there is one."""

    def start(self, order: StartOrder) -> None:
        """Let a run begin."""
