"""What recorded runs tell of the tools of nodes: their journals, advanced through once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from stagec.cli.commands.permissions.collect import SeenRun
from stagec.cli.databases.run_sources import list_statuses, read_named
from stagec.cli.running.inputs import load_program
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.drivers.history import History
from stagec.drivers.replay import advance_through
from stagec.flow_tests.tool_use import ToolUse, UseWatch
from stagec.model.flow import Flow
from stagec.model.rights import FlowRights
from stagec.plan import Plan
from stagec.runtime import Answered, Program


@value
class RecordedUse:
    """A recorded run: the plan that it began with, and the tools that its nodes called."""

    plan: Plan
    used: ToolUse


class RecordedUses:
    """The recorded runs of a folder or a database that somebody wants to be counted."""

    def __init__(self, folder: Path, database: str | None) -> None:
        self._folder, self._database = folder, database
        self._found: dict[str, RecordedUse] = {}
        self._named: frozenset[str] = frozenset()

    def read(self, named: Sequence[str], *, every: bool) -> RecordedUses:
        """Read the runs that are named, and on request all others that are kept there; return itself."""
        for run in (*named, *(self._list_all() if every else ())):
            name, stored = read_named(run, self._folder, self._database)
            if name not in self._found:
                program = load_program(stored.history.plan, f"the plan of run {quote(name)}")
                self._found[name] = RecordedUse(program.plan, read_uses(program, stored.history))
                self._named |= {name} if run in named else frozenset[str]()
        return self

    def _list_all(self) -> Iterator[str]:
        return (each.run for each in list_statuses(self._folder, self._database)[0] if each.plan is not None)

    def find(self, flow: Flow, shared: Container[str]) -> Mapping[str, SeenRun]:
        """Return the runs of a flow by name: of plans with its id, and, where that is shared, of its file."""
        return {
            name: SeenRun(each.used, is_recorded=True)
            for name, each in self._found.items()
            if each.plan.id == flow.id and (flow.id not in shared or flow.at.file in each.plan.sources)
        }

    def refuse_foreign(self, shown: Iterable[str]) -> None:
        """Raise `Failure` for runs that somebody names and that are of no flow which is shown."""
        foreign = sorted(self._named - {*shown})
        if foreign:
            ids = listing(sorted({self._found[each].plan.id for each in foreign}))
            noun = "run" if len(foreign) == 1 else "runs"
            raise Failure(f"{noun} {listing(foreign)} of the flow {ids}: no such flow is among those listed here")


def find_shared(every: Iterable[FlowRights]) -> frozenset[str]:
    """Return the ids that several flows have."""
    times = Counter(each.flow.id for each in every if not each.is_alone)
    return frozenset(each for each, count in times.items() if count > 1)


def read_uses(program: Program, history: History) -> ToolUse:
    """Return the tools that the nodes of a recorded run called."""
    watch = UseWatch()
    for event, step in advance_through(program, history.events):
        if isinstance(event, Answered):
            watch.answer(event.key, event.answer)
        for each in step.effects:
            watch.ask(each)
    return watch.report()
