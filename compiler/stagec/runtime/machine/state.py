"""The state of a run: a value that follows from the events so far, and from nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.ir.plan.node import Outcome
from stagec.ir.protocol.lifecycle import StageStatus
from stagec.runtime.machine.exchange import Effect, execution_of, run_of
from stagec.runtime.machine.execution import AgentRun, Branch, Execution
from stagec.runtime.machine.failures import RunFailure
from stagec.runtime.machine.program import Program

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Table(Mapping[K, V]):
    """Entries by name, in the order in which the names came first.

    The latest changes lie over the others, and are merged into them once there are as many as the square root of those:
    so a change costs about as much as copying that many entries.
    """

    __slots__ = ("_latest", "_old")

    def __init__(self, old: Mapping[K, V] | None = None, latest: Mapping[K, V] | None = None) -> None:
        self._old: Mapping[K, V] = {} if old is None else old
        self._latest: Mapping[K, V] = {} if latest is None else latest

    def having(self, name: K, entry: V) -> Table[K, V]:
        """Return a table with one more entry, or with another one under its name."""
        return self._merge({**self._latest, name: entry})

    def having_all(self, entries: Mapping[K, V]) -> Table[K, V]:
        """Return a table with more entries, or with others under their names."""
        return self._merge({**self._latest, **entries})

    def _merge(self, latest: Mapping[K, V]) -> Table[K, V]:
        if len(latest) * len(latest) > len(self._old):
            return Table({**self._old, **latest})
        return Table(self._old, latest)

    def __getitem__(self, name: K) -> V:
        """Return the entry of a name."""
        latest = self._latest
        return latest[name] if name in latest else self._old[name]

    def __iter__(self) -> Iterator[K]:
        """Yield the names."""
        yield from self._old
        yield from (name for name in self._latest if name not in self._old)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._old) + sum(name not in self._old for name in self._latest)

    def __repr__(self) -> str:
        """Show the entries as a dictionary does."""
        return repr(dict(self))


class Queue(Generic[V]):
    """Elements in the order in which they came: the first one leaves at no cost.

    What has come lately lies apart, and is merged like the changes of a `Table`.
    """

    __slots__ = ("_first", "_latest", "_old")

    def __init__(self, old: tuple[V, ...] = (), first: int = 0, latest: tuple[V, ...] = ()) -> None:
        self._old, self._first, self._latest = old, first, latest

    def having(self, more: Iterable[V]) -> Queue[V]:
        """Return a queue with more elements at its end."""
        latest = (*self._latest, *more)
        if len(latest) * len(latest) > len(self._old) - self._first:
            return Queue((*self._old[self._first :], *latest))
        return Queue(self._old, self._first, latest)

    def take(self) -> tuple[V, Queue[V]]:
        """Return the first element and the queue of the others; there must be one."""
        following = self._first + 1
        others = Queue(self._old, following, self._latest) if following < len(self._old) else Queue(self._latest)
        return self._old[self._first], others

    @property
    def parts(self) -> tuple[tuple[V, ...], int, tuple[V, ...]]:
        """A tuple shared by queues, the index of this queue's first element, and the few elements after it."""
        return self._old, self._first, self._latest

    def __iter__(self) -> Iterator[V]:
        """Yield the elements."""
        for place in range(self._first, len(self._old)):
            yield self._old[place]
        yield from self._latest

    def __len__(self) -> int:
        """Return how many elements there are."""
        return len(self._old) - self._first + len(self._latest)

    def __eq__(self, other: object) -> bool:
        """Tell whether the elements are equal."""
        return isinstance(other, Queue) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return a hash that equal queues share."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Show the elements as a tuple does."""
        return repr(tuple(self))


_NO_RESULTS: Table[int, Json] = Table()
_NO_COUNTS: Table[int, int] = Table()


@value
class Scope:
    """A fork, a chain, a schedule or a list that has begun: its branches that are done, each with its last result.

    `nodes` are those that begin its branches, `join` follows a fork. `around` is the branch in which it was opened. A
    schedule has an `agenda`, its number in `Program.schedules`; `left` tells for branches how many of their
    predecessors have not ended, if that has changed; `open` counts the branches that wait for room or act. `ended` is
    how the scope ends, as far as that is known, and `failure` why. In a scope for the `elements` of a list, each has a
    branch in which the `nodes` run one after the other; `room` is how many of these are open at most. Where the scope
    `collects`, a branch that has failed has a result as well.
    """

    around: Branch
    nodes: tuple[str, ...]
    join: str | None = None
    is_chain: bool = False
    results: Table[int, Json] = _NO_RESULTS
    agenda: int | None = None
    left: Table[int, int] = _NO_COUNTS
    open: int = 0
    ended: Outcome = Outcome.DONE
    failure: RunFailure | None = None
    elements: list[Json] | None = None
    room: int = 0
    collects: bool = False

    @property
    def is_fork(self) -> bool:
        """Whether its branches belong together, so that one which fails cancels the others."""
        return not self.is_chain and self.agenda is None

    @property
    def branches(self) -> int:
        """How many branches it has."""
        return len(self.nodes) if self.elements is None else len(self.elements)


@value
class PendingNode:
    """A node that is come to; in a fork it waits until fewer nodes than the limit act.

    `origin` is the node it follows, if any, `otherwise` what runs in its place if it cannot start, `prompt` one that is
    not its own. `joins` is the fork that it is the join of.
    """

    node: str
    branch: Branch
    upstream: tuple[Json, ...] = ()
    origin: str | None = None
    otherwise: str | None = None
    prompt: str | None = None
    begins_branch: bool = False
    joins: str | None = None


@value
class NodeHistory:
    """The history of a node: how often it has run, and its last result.

    `record` is kept for carried variables, None when there is none. `origin` is the node from which this one was last
    come to by an edge from another node. `failures` counts how often its validation has failed in a row, `repeats` how
    often it has repeated itself in a row, where its act bounds that.
    """

    visits: int = 0
    record: Mapping[str, Json] | None = None
    origin: str | None = None
    failures: int = 0
    repeats: int = 0


_NOBODY: Table[str, NodeHistory] = Table()
_NO_STATUSES: Table[str, StageStatus] = Table()
_NOBODY_WAITS: Queue[PendingNode] = Queue()


@value
class IssueStatus:
    """The issue in a run of phases: the labels that it has because of the run, and the transitions so far.

    `phase` is the one to which the last transitions have led, `row` of them one after the other.
    """

    labels: tuple[str, ...] = ()
    transitions: int = 0
    phase: str = ""
    row: int = 0
    is_closed: bool = False


@value
class State:
    """The state of a run.

    `active` are the executions that have begun and not ended, by key; `pending` the requests that nobody has answered,
    by key, in the order in which they were made. `judged` counts how often the judge was asked, `said` is the text with
    which the model ended the execution before. `statuses` are those of the stages that are processes. When the run has
    `ended`, `reason` says why in a sentence; `failure` is there when it has not ended as done. `cancelled` is why the
    run ends as soon as its processes are gone. `traced` counts the trace events so far. Runs of phases have an `issue`.
    `machine` is the version of the machine with which the run began.
    """

    run: str = ""
    entry: str = ""
    inputs: Mapping[str, Json] = NOTHING
    executions: int = 0
    past: Table[str, NodeHistory] = _NOBODY
    judged: int = 0
    said: str = ""
    active: Mapping[str, Execution] = NOTHING
    scopes: Mapping[str, Scope] = NOTHING
    waiting: Queue[PendingNode] = _NOBODY_WAITS
    pending: Mapping[str, Effect] = NOTHING
    ended: Outcome | None = None
    reason: str = ""
    failure: RunFailure | None = None
    traced: int = 0
    statuses: Table[str, StageStatus] = _NO_STATUSES
    cancelled: RunFailure | None = None
    issue: IssueStatus | None = None
    machine: int = 1


def find_element(scopes: Mapping[str, Scope], branch: Branch) -> tuple[Json, int] | None:
    """Return the element for which a branch runs, and its number in the list; nothing outside of such scopes."""
    while branch.scope is not None:
        scope = scopes[branch.scope]
        if scope.elements is not None:
            return scope.elements[branch.index], branch.index
        branch = scope.around
    return None


def find_asking(active: Mapping[str, Execution], key: str) -> Execution | None:
    """Return the execution that has made a request: its own, or one in the run of its agent."""
    own = active.get(execution_of(key))
    return own or next((each for each in active.values() if has_asked(each, key)), None)


def has_asked(execution: Execution, key: str) -> bool:
    """Tell whether a request is one in the run of the agent that an execution runs."""
    return isinstance(execution.progress, AgentRun) and execution.progress.state.run == run_of(key)


@value
class TraceEvent:
    """Something that happened, for people and logs; nothing depends on it. `facts` are JSON."""

    name: str
    facts: Mapping[str, Json]


@value
class Move:
    """One execution that is over: its node, the number of its visit, its outcome, and where it leads.

    `to` are the nodes that follow. When there is none, the run has ended as `end` says, or goes on when the nodes in
    `awaited` are over, which do not name all that wait for room when these are many. `run` is the id of the agent's
    run in which it happened, empty for the run itself.
    """

    node: str
    visit: int
    outcome: str
    to: tuple[str, ...] = ()
    end: str = ""
    awaited: tuple[str, ...] = ()
    run: str = ""


@value
class StepResult:
    """The result of an event: the state, the requests to the world, the cancelled ones, and the trace events.

    `moves` are the executions that ended, in order, and `last` is the result of the last one that led anywhere. Both
    follow from the rest: no digest in a journal covers them. `program` is the program with which the run continues, if
    it changes here.
    """

    state: State
    effects: tuple[Effect, ...] = ()
    void: tuple[str, ...] = ()
    trace: tuple[TraceEvent, ...] = ()
    moves: tuple[Move, ...] = ()
    last: Json = None
    program: Program | None = None
