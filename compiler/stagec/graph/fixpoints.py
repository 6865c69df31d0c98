"""What starts, what completes and at what cost, found through networkx and in rounds until nothing changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stagec.core.value import value
from stagec.graph.adjacency import plain
from stagec.graph.named import callers_of, named
from stagec.graph.runs import MOST
from stagec.model.flow import Back, Edge, End, Flow, Mode, Start, Stop, To

Way = tuple[str, frozenset[str]]
"""A node that follows as soon as all of some others do."""


@value
class Take:
    """One way in which an edge starts a node: what must have started, and what of it must be able to end."""

    node: str
    edge: Edge
    started: frozenset[str]
    ended: frozenset[str]

    def possible(self, starts: Collection[str], completes: Collection[str]) -> bool:
        """Tell whether the node can be started in this way."""
        return all(each in starts for each in self.started) and all(each in completes for each in self.ended)


def takes(edge: Edge) -> Iterator[Take]:
    """Yield all nodes that an edge starts, in the order in which it names them."""
    target = edge.target
    if isinstance(target, To):
        for at, node in enumerate(target.nodes):
            before = frozenset(target.nodes[:at] if target.mode is Mode.CHAIN else ())
            yield Take(node, edge, before | {edge.source}, before)
        if target.join is not None:
            yield Take(target.join, edge, frozenset({edge.source, *target.nodes}), frozenset(target.nodes))


def starting(flow: Flow, known: Iterable[Take], completes: frozenset[str]) -> list[Way]:
    """Return the ways in which nodes start."""
    ways: list[Way] = []
    waiting: dict[str, list[Take]] = {}
    for take in known:
        if flow.nodes[take.node].start is Start.ALL:
            waiting.setdefault(take.node, []).append(take)
        elif take.ended <= completes:
            ways.append((take.node, take.started))
    for node, all_takes in waiting.items():
        if all(take.ended <= completes for take in all_takes):
            ways.append((node, frozenset[str]().union(*(take.started for take in all_takes))))
    return ways


def completing(known: list[Edge]) -> Iterator[Way]:
    """Yield the ways in which nodes complete."""
    callers = callers_of(known)
    for edge in known:
        if isinstance(edge.target, Back):
            yield from ((edge.source, frozenset({each})) for each in callers[edge.source])
        elif isinstance(edge.target, To) or edge.target.end is End.DONE:
            yield edge.source, frozenset(named(edge))


def following(ways: Iterable[Way], given: Iterable[str]) -> frozenset[str]:
    """Return all that follows from what is given."""
    import networkx as nx

    single = nx.DiGraph()
    single.add_nodes_from(given)
    fresh, rest = set(given), []
    for node, needs in ways:
        if len(needs) > 1:
            rest.append((node, needs))
        single.add_node(node)
        single.add_edges_from((each, node) for each in needs if len(needs) == 1)
        fresh |= set() if needs else {node}
    found: set[str] = set()
    while fresh:
        found |= fresh.union(*nx.bfs_layers(single, [each for each in fresh if each in single]))
        fresh = {node for node, needs in rest if needs <= found} - found
    return frozenset(found)


def costs(flow: Flow, known: list[Edge]) -> Mapping[str, int]:
    """Return for each completing node the least executions to an end."""
    if all(not isinstance(edge.target, To) or plain(edge.target) for edge in known):
        return _levels(known)
    meeting, callers = _meeting(flow, known), callers_of(known)
    found: dict[str, int] = {}
    before: dict[str, int] | None = None
    while found != before:
        before = dict(found)
        for edge in known:
            cost = _cost(edge, found, callers, meeting=meeting)
            if cost is not None and cost < found.get(edge.source, MOST + 1):
                found[edge.source] = cost
    return found


def _levels(known: list[Edge]) -> Mapping[str, int]:
    import networkx as nx

    single = nx.DiGraph((target, source) for source, needs in completing(known) for target in needs)
    ends = {edge.source for edge in known if isinstance(edge.target, Stop) and edge.target.end is End.DONE}
    single.add_nodes_from(ends)
    return {node: at for at, level in enumerate(nx.bfs_layers(single, list(ends)), 1) for node in level}


def _cost(edge: Edge, found: Mapping[str, int], callers: Mapping[str, Collection[str]], *, meeting: bool) -> int | None:
    target = edge.target
    if isinstance(target, Stop):
        return 1 if target.end is End.DONE else None
    if isinstance(target, Back):
        return min((min(1 + found[each], MOST) for each in callers[edge.source] if each in found), default=None)
    if not all(each in found for each in named(edge)):
        return None
    branches = [found[each] for each in target.nodes]
    together = max(branches, default=0) if meeting and target.mode is not Mode.CHAIN else sum(branches)
    return min(1 + together + (0 if target.join is None else found[target.join]), MOST)


def _meeting(flow: Flow, known: list[Edge]) -> bool:
    pairs = {(node, edge.source) for edge in known for node in named(edge) if flow.nodes[node].start is Start.ALL}
    return len({node for node, _ in pairs}) < len(pairs)
