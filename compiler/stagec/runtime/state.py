"""Where a run stands: a value that follows from the events so far, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.node import Outcome
from stagec.runtime.exchange import Effect
from stagec.runtime.execution import Branch, Execution
from stagec.runtime.failures import RunFailure

V = TypeVar("V")


class Table(Mapping[str, V]):
    """Entries by name, in the order in which the names came first.

    The latest changes lie over the others, and are merged into them once there are as many as the square root of those:
    so a change costs about as much as copying that many entries.
    """

    __slots__ = ("_latest", "_old")

    def __init__(self, old: Mapping[str, V] | None = None, latest: Mapping[str, V] | None = None) -> None:
        self._old: Mapping[str, V] = {} if old is None else old
        self._latest: Mapping[str, V] = {} if latest is None else latest

    def having(self, name: str, entry: V) -> Table[V]:
        """Return a table with one more entry, or with another one under its name."""
        latest = {**self._latest, name: entry}
        if len(latest) * len(latest) > len(self._old):
            return Table({**self._old, **latest})
        return Table(self._old, latest)

    def __getitem__(self, name: str) -> V:
        """Return the entry of a name."""
        latest = self._latest
        return latest[name] if name in latest else self._old[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        yield from self._old
        yield from (name for name in self._latest if name not in self._old)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._old) + sum(name not in self._old for name in self._latest)

    def __repr__(self) -> str:
        """Show the entries as a dictionary does."""
        return repr(dict(self))


@value
class Scope:
    """A fork or a chain that has begun: which branches have ended, and with which last result.

    `nodes` are those that begin its branches, `join` follows a fork. `around` is the branch in which it was opened.
    """

    around: Branch
    nodes: tuple[str, ...]
    join: str | None
    is_chain: bool
    results: tuple[tuple[int, Json], ...] = ()


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
    """What is remembered of a node: how often it has run, and what came of it last.

    `record` is kept for carried variables, None when there is none. `origin` is the node from which this one was last
    come to by an edge from another node. `failures` counts how often its validation has failed in a row.
    """

    visits: int = 0
    record: Mapping[str, Json] | None = None
    origin: str | None = None
    failures: int = 0


_NOBODY: Table[NodeHistory] = Table()


@value
class State:
    """Where a run stands.

    `active` are the executions that have begun and not ended, by key; `pending` the requests that nobody has answered,
    by key, in the order in which they were made. `judged` counts how often the judge was asked, `said` is the text with
    which the model ended the execution before. When the run has `ended`, `reason` says why in a sentence; `failure` is
    there when it has failed. `traced` counts the trace events so far.
    """

    run: str = ""
    entry: str = ""
    inputs: Mapping[str, Json] = NOTHING
    executions: int = 0
    past: Table[NodeHistory] = _NOBODY
    judged: int = 0
    said: str = ""
    active: Mapping[str, Execution] = NOTHING
    scopes: Mapping[str, Scope] = NOTHING
    waiting: tuple[PendingNode, ...] = ()
    pending: Mapping[str, Effect] = NOTHING
    ended: Outcome | None = None
    reason: str = ""
    failure: RunFailure | None = None
    traced: int = 0


@value
class TraceEvent:
    """Something that happened, for people and logs; nothing depends on it. `facts` are JSON."""

    name: str
    facts: Mapping[str, Json]


@value
class Move:
    """One execution that is over: its node, the number of its visit, its outcome, and where it leads.

    `to` are the nodes that follow. When there is none, the run has ended as `end` says, or goes on when the nodes in
    `awaited` are over.
    """

    node: str
    visit: int
    outcome: str
    to: tuple[str, ...] = ()
    end: str = ""
    awaited: tuple[str, ...] = ()


@value
class StepResult:
    """What follows from an event: the state, the requests to the world, those that are void, and the trace events.

    `moves` are the executions that ended, in order. They follow from the rest: no digest in a journal covers them.
    """

    state: State
    effects: tuple[Effect, ...] = ()
    void: tuple[str, ...] = ()
    trace: tuple[TraceEvent, ...] = ()
    moves: tuple[Move, ...] = ()
