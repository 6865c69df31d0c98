"""A flow: nodes, the outcomes that leave them, and the targets of each outcome; the same for every system."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from stagec.core.place import Place
from stagec.core.precedence import order_names
from stagec.core.value import NOTHING, value
from stagec.ir.plan.gate import Term
from stagec.ir.plan.node import Edge, Named, Outcome, Schedule, Target

TYPE_CHECKING = False  # the real one costs the import of `typing`

if TYPE_CHECKING:
    from stagec.sources.contract.promise import Promise


class NameKind(StrEnum):
    """The kind of thing that a name stands for."""

    STEP = "step"
    STAGE = "stage"
    ENVELOPE = "envelope"
    PHASE = "phase"
    AGENT = "agent"
    VALIDATOR = "validator"
    PATTERN = "failure pattern"
    TOOL = "tool"
    COMPLETION_TOOL = "completion tool"
    VARIABLE = "variable"
    FILE = "file"


NODES = frozenset({NameKind.STEP, NameKind.STAGE, NameKind.ENVELOPE, NameKind.PHASE})
"""The kinds of names that runs go through."""


@value
class Occurrence:
    """A place at which a name stands.

    `owner` is the file in which no two things of the kind have the same name. A definition has everything that is
    written about the thing in `whole`. A file is defined by being there: its name is its path in the project.
    """

    kind: NameKind
    name: str
    owner: str
    at: Place
    whole: Place | None = None

    @property
    def subject(self) -> tuple[str, str, str]:
        """The meaning of the name: equal for all places that mean the same thing."""
        return self.kind, self.owner, self.name


@value
class Need:
    """A node that must complete before another one begins, with its place.

    What is `inferred` follows from an input, at this place.
    """

    node: str
    at: Place
    inferred: bool = False


@value
class WrittenSchedule:
    """The places of a schedule: `place_needs` returns the needs of a node with their places, on demand.

    `times` are the seconds that each node is meant to take, empty where nobody says.
    """

    at: Place
    place_needs: Callable[[str], tuple[Need, ...]]
    times: Mapping[str, float] = NOTHING


_LONGEST = 10**9
"""Seconds; what is longer, as nobody means it, counts as this."""


def _count_milliseconds(seconds: float) -> int:
    """Return a time as a whole number; what is no number, or less than nothing, is nothing."""
    return round(1000 * min(_LONGEST, max(0, seconds)))


@value
class WrittenEdge:
    """An edge of a plan as it is written: the node that it leaves, its place, and what only checking knows.

    Nodes whose answers choose from equal names share one `Named` target, so the cost is the sum of nodes and names and
    not their product. `kinds` are the kinds of node that the outcome may lead to, None when any will do. `repair` marks
    an edge whose target was written wrongly: it leads to what was most likely meant, and nothing is to be said about
    it. A `fallback` is taken when the node to which another edge of the outcome leads cannot start. One that is
    `untaken` is written down, but edges before it leave no result for it.
    """

    source: str
    edge: Edge
    at: Place
    kinds: frozenset[str] | None = None
    repair: bool = False
    fallback: bool = False
    untaken: bool = False

    @property
    def on(self) -> str:
        """The outcome that allows it."""
        return self.edge.on

    @property
    def target(self) -> Target:
        """Its target."""
        return self.edge.target

    @property
    def when(self) -> tuple[Term, ...]:
        """The conditions on the result."""
        return self.edge.when


@value
class FlowNode:
    """One step, stage or envelope.

    `idle` nodes are needed by no run: nothing is lost when none reaches them. `decided_at` is where a node lists the
    outcomes among which it decides. `parts` are what belongs to its definition and is written elsewhere, by what it is
    called: `prompt`, `schema`. `names_any` tells whether its answers may name the next node while nobody can list the
    names; `Flow.called` has those that mean something.
    """

    id: str
    at: Place
    kind: str | None = None
    edges: tuple[WrittenEdge, ...] = ()
    idle: bool = False
    decided_at: Place | None = None
    parts: tuple[tuple[str, Place], ...] = ()
    names_any: bool = False
    agent: str | None = None
    """The agent that does the work of the node, where it has a flow of its own."""
    caller: Entry | None = None
    """The node that runs an inner flow, for a node that is reached if this is."""
    deadline: int = 0
    """How many milliseconds after its begin an execution fails; 0 where nothing limits it."""


@value
class Entry:
    """One way of starting a run: where it is written, and the node it starts at."""

    node: str
    at: Place


@value
class Bound:
    """The most node executions a run may have, and where that is written.

    If it `counts_moves`, the written number counts moves between nodes, of which a run has one less than nodes.
    """

    executions: int
    at: Place
    counts_moves: bool = False


@value
class Source:
    """A read of a result: the producer, the path, the promise about the path, and the place; None for what is absent.

    `promised.followed` counts the parts of the whole path that could be followed. `is_barred` tells that the member is
    absent in every result that leads to a reader, whatever the schema allows.
    """

    node: str
    promised: Promise | None = None
    at: Place | None = None
    is_barred: bool = False


@value
class Read:
    """A path into other nodes' results that a node reads before it acts: its prompt is made of it.

    `sources` are the nodes whose result it may be, one way of coming to the node each; of a read that is `kept` the one
    whose last result it is, however long ago. Without a result the node cannot start. What `is_demanded` is required by
    a schema that the results have to satisfy.
    """

    node: str
    path: tuple[str | int, ...]
    at: Place
    sources: tuple[Source, ...]
    kept: bool = False
    is_demanded: bool = False


@value
class Demand:
    """A node's demand on the results that it receives, and all nodes that may hand one over and never meet it."""

    node: str
    at: Place
    unmet: tuple[Unmet, ...]


@value
class Unmet:
    """A node whose result never meets a demand: the path and the two contradicting schemas.

    If it `is_failed`, this concerns the results of failed executions. `meant` is the path that was most likely meant.
    """

    node: str
    path: tuple[str | int, ...]
    demanded: Place
    offered: Place
    is_failed: bool = False
    meant: tuple[str, ...] | None = None


@value
class InnerFlow:
    """A flow whose nodes are part of another one: its name and its place.

    `inputs` are the names of its context, each with what is written for it: a path, or a constant as JSON.
    """

    id: str
    at: Place
    inputs: Mapping[str, str] = NOTHING


@value
class Flow:
    """One executable graph.

    `entries` and `schedules` are the ways of starting a run, by what selects them. `exact` is False when something that
    could be an edge, a need or an entry was too broken to be read: then nothing can be said about what is absent.
    `suspect` tells that an edge or a need was read but cannot be meant as it is written: what follows from it is then
    its fault, not another one. `strays` tells that the author wrote a way that no run takes, and that this is no error:
    it can explain an unreachable node. `open` are the nodes that may also lead to any node an answer names.
    """

    id: str
    at: Place
    entries: Mapping[str, Entry]
    nodes: Mapping[str, FlowNode]
    bound: Bound | None = None
    exact: bool = True
    suspect: bool = False
    strays: bool = False
    names: Mapping[str, str] = NOTHING
    """The system's words: `node` is `step`, `stage` or `envelope`; `outcome` is `intent`, …"""
    open: frozenset[str] = frozenset()
    called: Mapping[str, str] = NOTHING
    """The nodes by everything that an answer may call them."""
    bound_at: Place | None = None
    """The place for a bound if nodes can repeat; None if the system bounds its runs itself."""
    reads: tuple[Read, ...] = ()
    demands: tuple[Demand, ...] = ()
    lost: tuple[WrittenEdge, ...] = ()
    """Moves as they are written to names of which no run can enter anything; no part of the graph."""
    lost_entries: tuple[tuple[str, Entry], ...] = ()
    """The same for entries, each with what selects it."""
    ignored: tuple[WrittenEdge, ...] = ()
    """Moves as they are written that no run takes, whatever is answered; no part of the graph."""
    schedules: Mapping[str, Schedule] = NOTHING
    written: Mapping[str, WrittenSchedule] = NOTHING
    """The places of schedules, and facts that only files have."""
    exits: frozenset[Outcome] = frozenset({Outcome.DONE})
    """The ends that runs may come to: where none of them can be reached, a run is stuck."""
    counted_at: Place | None = None
    """The place of the number of executions that completes a run by itself; None without such a number."""
    inner: Mapping[str, InnerFlow] = NOTHING
    """The flows whose nodes are nodes of this one, by what stands with a slash before the names of these.

    One that is too broken for that, so that it has no nodes here, is named as well.
    """
    deadline: int = 0
    """How many milliseconds after its begin a run fails; 0 where nothing limits it."""

    @property
    def begun(self) -> tuple[Entry, ...]:
        """The nodes with which runs begin."""
        return tuple(entry for name in (*self.entries, *self.schedules) for entry in self.list_begun(name))

    def list_begun(self, name: str) -> Iterator[Entry]:
        """Yield the node of an entry, or those of a schedule that need nothing."""
        if name in self.entries:
            yield self.entries[name]
        else:
            at = self.written[name].at if name in self.written else self.at
            yield from (Entry(node, at) for node, needs in self.schedules[name].needs.items() if not needs)

    def list_needs(self, name: str, node: str) -> tuple[Need, ...]:
        """Return the needs of a node of a schedule, with their places if known."""
        needs = self.schedules[name].needs[node]
        if needs and name in self.written:
            return self.written[name].place_needs(node)
        return tuple([Need(each, self.at) for each in needs])

    def find_critical(self, name: str) -> tuple[str, ...]:
        """Return the nodes of a schedule that take longest: the critical path; none where nothing is known of times."""
        needs, times = self.schedules[name].needs, self.written[name].times if name in self.written else {}
        if times.keys() < needs.keys():
            return ()
        nodes = tuple(needs)
        found = order_names(needs).find_longest([_count_milliseconds(times[each]) for each in nodes])
        return tuple([nodes[each] for each in found.nodes])

    @property
    def edges(self) -> int:
        """How many moves the flow has: one for each name that an answer may choose."""
        every = (edge.target for node in self.nodes.values() for edge in node.edges)
        return sum(len(target.nodes) if isinstance(target, Named) else 1 for target in every)

    @property
    def choices(self) -> tuple[tuple[Named, int], ...]:
        """The possible names in answers, each value once, with the number of edges that lead there."""
        every = (edge.target for node in self.nodes.values() for edge in node.edges)
        found: dict[int, list[Named]] = {}
        for target in every:
            if isinstance(target, Named):
                found.setdefault(id(target), []).append(target)
        return tuple((same[0], len(same)) for same in found.values())


class Placed(Protocol):
    """Something that has a place."""

    @property
    def at(self) -> Place:
        """Its place."""


P = TypeVar("P", bound=Placed)


class Concerns(Generic[P]):
    """Diagnostics by file, and by the folder of the flow that lies nearest: made once for all flows of a project."""

    def __init__(self, flows: Iterable[Flow], diagnostics: Iterable[P]) -> None:
        self.diagnostics = tuple(diagnostics)
        folders = {posixpath.dirname(each.at.file) for each in flows}
        self._by_file: dict[str, list[int]] = {}
        for index, each in enumerate(self.diagnostics):
            self._by_file.setdefault(each.at.file, []).append(index)
        self._files_near: dict[str | None, list[str]] = {}
        for file in self._by_file:
            self._files_near.setdefault(find_nearest_folder(file, folders), []).append(file)

    def of(self, flow: Flow, others: Collection[str] = ()) -> tuple[P, ...]:
        """Return the diagnostics in files that a flow is made of, in those nearest to its own, and in `others`."""
        parts = (each.file for node in flow.nodes.values() for each in (node.at, *dict(node.parts).values()))
        own = {flow.at.file, *(each.at.file for each in flow.inner.values())}
        near = (file for each in own for file in self._files_near.get(posixpath.dirname(each), ()))
        files = {*own, *parts, *near, *others}
        found = sorted(index for file in files for index in self._by_file.get(file, ()))
        return tuple(self.diagnostics[index] for index in found)


def find_nearest_folder(file: str, folders: Collection[str]) -> str | None:
    """Return the nearest folder above a file."""
    folder = posixpath.dirname(file)
    while folder not in folders:
        if not folder:
            return None
        folder = posixpath.dirname(folder)
    return folder


JUDGE, UNFIT, UNANSWERED = "judge-never-satisfied", "unfit-inputs", "no-answer"
"""Kinds that no failure of a run has: nothing satisfies the judge, or an input's schema, or no answer takes an edge."""


@value
class LostEntry:
    """An entry from which no completed run was found.

    `kind` is what ends the runs that come furthest: a kind of failure of the machine, or one of the above; it is empty
    where runs only repeat. `node` is where they end, and `detail` what is known besides. `open` says why other runs may
    complete; it is empty where no run does. The search `is_given_up` when it has made too many steps.
    """

    entry: str
    node: str
    kind: str = ""
    detail: str = ""
    open: str = ""
    is_given_up: bool = False


@value
class UntakenWay:
    """A node that no run enters or none passes, or an edge that none takes, although a way leads there.

    `edge` is None where the node is meant. A node that is `entered` is never passed. `kind` and
    `detail` say what ends the runs there: a kind of failure of the machine; `kind` is empty where nothing is known of
    that. `behind` are the nodes that no run enters because of it.
    """

    node: str
    edge: Edge | None = None
    entered: bool = True
    kind: str = ""
    detail: str = ""
    behind: tuple[str, ...] = ()


@value
class SearchedFlow:
    """A flow after the search for runs: the entries from which no run completes, and the ways that no run takes."""

    flow: Flow
    lost: tuple[LostEntry, ...] = ()
    untaken: tuple[UntakenWay, ...] = ()
