"""The nodes and edges of a flow as small integers, in flow order."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.components import Neighbours
from stagec.core.value import value
from stagec.model.flow import Edge, End, Flow, Mode, Pick, Target, To

_ONE = Mode.ONE


@value
class Scope:
    """One edge that opens a scope: its nodes run together or, in a chain, one after the other; then its join."""

    source: int
    branches: tuple[int, ...]
    join: int | None
    chain: bool

    @property
    def leads(self) -> tuple[int, ...]:
        """The nodes that run because the edge is taken."""
        return self.branches if self.join is None else (*self.branches, self.join)


@value
class Adjacency:
    """A flow in integers: `steps` are plain edges, `ends` the nodes that can end as done.

    `exits` are the nodes that can end as runs of the flow may. The last points of `steps` are no nodes: each is a hub,
    one for all edges with the same `Pick`, which lead to it, and from which steps lead to the nodes that answers can
    name. `schedules` have for each of their nodes those that it needs; one that names a node which does not exist is
    left out.
    """

    ids: tuple[str, ...]
    index: Mapping[str, int]
    steps: Neighbours
    scopes: tuple[Scope, ...]
    ends: tuple[int, ...]
    dangling: tuple[Edge, ...]
    schedules: Mapping[str, Mapping[int, tuple[int, ...]]]
    exits: tuple[int, ...] = ()

    @property
    def hubs(self) -> range:
        """The points that are no nodes."""
        return range(len(self.ids), len(self.steps))

    def leads(self) -> Neighbours:
        """Return which nodes run, at once or later, because an edge of a node is taken."""
        if not self.scopes:
            return self.steps
        made = [list(each) for each in self.steps]
        for scope in self.scopes:
            made[scope.source].extend(scope.leads)
        return made


def read_flow(flow: Flow) -> Adjacency:
    """Read a flow once, keeping edges apart that name a node which does not exist."""
    read = _Reader(flow)
    for source, node in enumerate(flow.nodes.values()):
        read.add_node(source, node.edges)
    found: dict[str, Mapping[int, tuple[int, ...]]] = {}
    index = read.index
    for name, schedule in flow.schedules.items():
        names = schedule.names
        needed = {each for needs in names.values() for each in needs}
        if needed <= names.keys() <= index.keys():
            found[name] = {index[node]: tuple([index[each] for each in needs]) for node, needs in names.items()}
    return Adjacency(
        ids=tuple(read.index),
        index=read.index,
        steps=read.steps,
        scopes=tuple(read.scopes),
        ends=tuple(dict.fromkeys(read.ends)),
        dangling=tuple(read.dangling),
        schedules=found,
        exits=tuple(dict.fromkeys(read.exits)),
    )


def is_plain(target: To) -> bool:
    """Tell whether a target is one node and opens no scope; several nodes without a mode run together."""
    return target.mode is _ONE and target.join is None and len(target.nodes) == 1


class _Reader:
    """What has been read so far."""

    def __init__(self, flow: Flow) -> None:
        self.index = {name: at for at, name in enumerate(flow.nodes)}
        self.steps: Neighbours = [[] for _ in flow.nodes]
        self._hubs: dict[int, int | None] = {}
        self.scopes: list[Scope] = []
        self.ends: list[int] = []
        self.exits: list[int] = []
        self._exits = flow.exits
        self.dangling: list[Edge] = []

    def add_node(self, source: int, edges: tuple[Edge, ...]) -> None:
        own, index = self.steps[source], self.index
        for edge in edges:
            target = edge.target
            if isinstance(target, To) and is_plain(target) and target.nodes[0] in index:
                own.append(index[target.nodes[0]])
            else:
                self._add_rare(source, edge, target)

    def _add_rare(self, source: int, edge: Edge, target: Target) -> None:
        if isinstance(target, To):
            self._add_scope(source, edge, target)
        elif isinstance(target, Pick):
            self._add_pick(source, edge, target)
        else:
            if target.end is End.DONE:
                self.ends.append(source)
            if target.end in self._exits:
                self.exits.append(source)

    def _add_pick(self, source: int, edge: Edge, target: Pick) -> None:
        if id(target) not in self._hubs:
            is_known = all(each in self.index for each in target.nodes)
            self._hubs[id(target)] = len(self.steps) if is_known else None
            if is_known:
                self.steps.append([self.index[each] for each in target.nodes])
        hub = self._hubs[id(target)]
        if hub is None:
            self.dangling.append(edge)
        else:
            self.steps[source].append(hub)

    def _add_scope(self, source: int, edge: Edge, target: To) -> None:
        named = target.nodes if target.join is None else (*target.nodes, target.join)
        if all(each in self.index for each in named):
            join = None if target.join is None else self.index[target.join]
            branches = tuple(self.index[each] for each in target.nodes)
            self.scopes.append(Scope(source, branches, join, target.mode is Mode.CHAIN))
        else:
            self.dangling.append(edge)
