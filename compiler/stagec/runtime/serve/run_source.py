"""The sources of the page's runs: the common interface of folders and databases."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from stagec.core.bounded import OversizedError, read_path
from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.ir.plan import Plan, PlanError
from stagec.runtime.drivers.following import FollowedRun, Standing
from stagec.runtime.drivers.messages import MessageKind
from stagec.runtime.machine import Program, Started, State, verify
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.questions import AskedOfPeople

_LARGEST = 100_000_000
"""Bytes of a plan's file that is read."""


@value
class ShelvedPlan:
    """A plan that is ready to be run, and the file it is in."""

    path: Path
    program: Program

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.program.plan

    @property
    def digest(self) -> str:
        """Its digest."""
        return self.program.digest


class PlanShelf:
    """The plans in some files, and in the files of some folders that end in `.json`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._known: dict[Path, tuple[tuple[int, int], ShelvedPlan | None]] = {}

    def list_plans(self) -> list[ShelvedPlan]:
        """Return the plans as they are now; a file that holds none is left out."""
        found = {path: self._read(path) for path in dict.fromkeys(self._list_files())}
        self._known = {path: known for path, known in found.items() if known is not None}
        return [plan for _, plan in self._known.values() if plan is not None]

    def find(self, digest: str) -> ShelvedPlan | None:
        """Return the plan with a digest."""
        return next((each for each in self.list_plans() if each.digest == digest), None)

    def _list_files(self) -> Iterator[Path]:
        for path in self._paths:
            if path.is_dir():
                yield from sorted(each for each in path.iterdir() if each.suffix == ".json" and each.is_file())
            else:
                yield path

    def _read(self, path: Path) -> tuple[tuple[int, int], ShelvedPlan | None] | None:
        try:
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known
            loaded = verify(read_path(path, _LARGEST))
        except (PlanError, OversizedError):
            return stamp, None
        except OSError:
            return None
        return stamp, ShelvedPlan(path, program_of(loaded.plan, loaded.digest))


def describe_plan(shelved: ShelvedPlan) -> Object:
    """Return the questions of the page at the start of a run of a plan."""
    plan = shelved.plan
    inputs: dict[str, Json] = {
        name: {
            "required": each.required and each.default is None,
            "default": each.default,
            "schema": None if each.schema is None else json.loads(plan.contents[each.schema]),
        }
        for name, each in plan.inputs.items()
    }
    return {
        "id": plan.id,
        "title": plan.title,
        "digest": shelved.digest,
        "path": str(shelved.path),
        "entries": list(plan.entries),
        "entry": plan.entry,
        "inputs": inputs,
    }


def find_complaints(program: Program, started: Started) -> dict[str, str]:
    """Return the mistakes in the inputs of a run, by their names; other mistakes are under the empty name."""
    plan, found = program.plan, dict[str, str]()
    for name, wanted in plan.inputs.items():
        if name in started.inputs:
            why = program.answer_schemas.complaint(wanted.schema, started.inputs[name])
            found |= {} if why is None else {name: why}
        elif wanted.required and wanted.default is None:
            found[name] = "is missing"
    trouble = None if found else find_trouble(program, started)
    return found if trouble is None else {"": trouble}


BY = "page"
"""The sender of messages from the page."""


@value
class RunRow:
    """The status of a run in a row: see `docs/user-guide/serve.md` for its values. `changed` is in milliseconds."""

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
    """A stamp that changes when a run may have changed, and the time of that change, in seconds since 1970.

    `is_fresh` tells that it may change again without another token. `row` is the status of the run, if it is known
    without reading its events.
    """

    token: tuple[object, ...]
    changed: float
    is_fresh: bool = False
    row: RunRow | None = None


@value
class StartOrder:
    """The order to start a run: a plan, an entry if not its own, the inputs, and the name of the run."""

    plan: ShelvedPlan
    name: str
    entry: str | None
    inputs: Object


class SourceRun(FollowedRun, Protocol):
    """A followed run, with its present state."""

    def describe(self, state: State, *, is_executed: bool) -> tuple[Standing, str]:
        """Return how the run stands that has come to a state, and why."""


class RunSource(Protocol):
    """A source of runs. A refused action is a `Failure`; `UnreachableError` is one that may be over soon.

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


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@value
class ServeSetup:
    """The address of the page, the runs that it shows, and the plans that it may start.

    `origins` are further origins of the page, such as that of a proxy.
    """

    source: RunSource
    plans: tuple[Path, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8642
    token: str = ""
    origins: tuple[str, ...] = ()
    can_start: bool = False
