"""The questions about flows answered through networkx, in rounds until nothing changes: the oracle of `Graph`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import networkx as nx

from stagec.core.value import value
from stagec.ir.flow import Flow, WrittenEdge
from stagec.ir.graph import Trap
from stagec.ir.graph.graph import MOST
from stagec.ir.plan.node import Chain, Fork, Go, Named, Outcome, Stop, list_opened, list_targets


def edges(flow: Flow) -> Iterator[WrittenEdge]:
    """Yield all edges of a flow."""
    for node in flow.nodes.values():
        yield from node.edges


def named(edge: WrittenEdge) -> tuple[str, ...]:
    """Return the nodes that an edge names, its join included."""
    return list_targets(edge.target)


def dangles(flow: Flow, edge: WrittenEdge) -> bool:
    """Tell whether an edge names a node that does not exist."""
    return not all(each in flow.nodes for each in named(edge))


Way = tuple[str, frozenset[str]]
"""A node that follows as soon as all of some others do."""


@value
class Take:
    """One way in which an edge starts a node: what must have started, and what of it must be able to end."""

    node: str
    edge: WrittenEdge
    started: frozenset[str]
    ended: frozenset[str]

    def possible(self, starts: Collection[str], completes: Collection[str]) -> bool:
        """Tell whether the node can be started in this way."""
        return all(each in starts for each in self.started) and all(each in completes for each in self.ended)


def takes(edge: WrittenEdge) -> Iterator[Take]:
    """Yield all nodes that an edge starts, in the order in which it names them."""
    target = edge.target
    nodes = list_opened(target)
    for at, node in enumerate(nodes):
        before = frozenset(nodes[:at] if isinstance(target, Chain) else ())
        yield Take(node, edge, before | {edge.source}, before)
    if isinstance(target, Fork) and target.join is not None:
        yield Take(target.join, edge, frozenset({edge.source, *target.nodes}), frozenset(target.nodes))


def starting(known: Iterable[Take], completes: frozenset[str]) -> list[Way]:
    """Return the ways in which nodes start."""
    return [(take.node, take.started) for take in known if take.ended <= completes]


def completing(known: list[WrittenEdge]) -> Iterator[Way]:
    """Yield the ways in which nodes complete."""
    for edge in known:
        if isinstance(edge.target, Named):
            yield from ((edge.source, frozenset({each})) for each in named(edge))
        elif not isinstance(edge.target, Stop) or edge.target.outcome is Outcome.DONE:
            yield edge.source, frozenset(named(edge))


def following(ways: Iterable[Way], given: Iterable[str]) -> frozenset[str]:
    """Return all that follows from what is given."""
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


def costs(known: list[WrittenEdge]) -> Mapping[str, int]:
    """Return for each completing node the least executions to an end."""
    if all(isinstance(edge.target, Go | Named | Stop) for edge in known):
        return _levels(known)
    found: dict[str, int] = {}
    before: dict[str, int] | None = None
    while found != before:
        before = dict(found)
        for edge in known:
            cost = _cost(edge, found)
            if cost is not None and cost < found.get(edge.source, MOST + 1):
                found[edge.source] = cost
    return found


def _levels(known: list[WrittenEdge]) -> Mapping[str, int]:
    single = nx.DiGraph((target, source) for source, needs in completing(known) for target in needs)
    ends = {edge.source for edge in known if isinstance(edge.target, Stop) and edge.target.outcome is Outcome.DONE}
    single.add_nodes_from(ends)
    return {node: at for at, level in enumerate(nx.bfs_layers(single, list(ends)), 1) for node in level}


def _cost(edge: WrittenEdge, found: Mapping[str, int]) -> int | None:
    target = edge.target
    if isinstance(target, Stop):
        return 1 if target.outcome is Outcome.DONE else None
    if isinstance(target, Named):
        return min((min(1 + found[each], MOST) for each in named(edge) if each in found), default=None)
    if not all(each in found for each in named(edge)):
        return None
    return min(1 + sum(found[each] for each in named(edge)), MOST)


class NetworkxGraph:
    """A flow and what follows from it; `Graph` says what each answer means."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._edges = [edge for edge in edges(flow) if not edge.untaken and not dangles(flow, edge)]

    @property
    def flow(self) -> Flow:
        """The flow this is the graph of."""
        return self._flow

    @property
    def dangling(self) -> tuple[WrittenEdge, ...]:
        """The edges that name a node which does not exist."""
        return tuple(edge for edge in edges(self._flow) if dangles(self._flow, edge))

    @property
    def exact(self) -> bool:
        """Whether all edges and entries are known."""
        entries = [each.node for each in self._flow.entries.values()]
        for each in self._flow.schedules.values():
            entries.extend(each.needs)
            entries.extend(need if need in each.needs else "" for some in each.needs.values() for need in some)
        return self._flow.exact and not self.dangling and bool(entries) and self._flow.nodes.keys() >= set(entries)

    def startable(self) -> frozenset[str]:
        """Return the nodes that can start, all entries taken together."""
        return self._startable

    def unstartable(self) -> tuple[str, ...]:
        """Return the nodes that can never start."""
        return self._ordered(self._flow.nodes.keys() - self.startable())

    def completing(self) -> frozenset[str]:
        """Return the nodes from which a run, or the scope they are in, can end as done."""
        return self._completing

    def find_stuck(self) -> tuple[str, ...]:
        """Return the nodes that can start and are not completing."""
        return self._ordered(self.startable() - self.completing())

    def traps(self) -> tuple[Trap, ...]:
        """Return the places where stuck runs end up."""
        every = frozenset(self._flow.nodes)
        ways = [*starting(self._takes, every), *self._waits(every)]
        blocked = following(ways, self._roots(None)) - self.startable()
        kept = self._leads.subgraph(every - self.completing() - blocked)
        bottoms = nx.attracting_components(kept)
        found = [self._ordered(nodes) for nodes in bottoms if not self.startable().isdisjoint(nodes)]
        cyclic = [len(nodes) > 1 or kept.has_edge(nodes[0], nodes[0]) for nodes in found]
        return tuple(sorted(map(Trap, found, cyclic), key=lambda trap: self._index[trap.nodes[0]]))

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the strongly connected components, each behind all it leads to."""
        whole = nx.condensation(self._leads, self._strong)
        order = reversed(list(nx.topological_sort(whole)))
        return tuple(self._ordered(whole.nodes[each]["members"]) for each in order)

    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return the components that lead back into themselves."""
        found = map(self._ordered, self._strong)
        cyclic = (nodes for nodes in found if len(nodes) > 1 or self._leads.has_edge(nodes[0], nodes[0]))
        return tuple(sorted(cyclic, key=lambda nodes: self._index[nodes[0]]))

    def shortest_run(self, entry: str) -> int | None:
        """Return the least number of node executions with which a run completes."""
        if entry in self._flow.schedules:
            costs = [self._shortest.get(each) for each in self._flow.schedules[entry].needs]
            return None if None in costs else min(sum(each or 0 for each in costs), MOST)
        return next((self._shortest.get(root) for root in self._roots(entry)), None)

    def longest_run(self, entry: str) -> int | None:
        """Return the largest number of node executions of any run."""
        most: dict[str, int] = {}
        leaving = self._leaving
        for root in self._roots(entry):
            inside = self._leads.subgraph({root, *nx.descendants(self._leads, root)})
            if not nx.is_directed_acyclic_graph(inside):
                return None
            for node in reversed(list(nx.topological_sort(inside))):
                ways = (_sum_or_largest(edge, most) for edge in leaving.get(node, ()))
                most[node] = min(1 + max(ways, default=0), MOST)
            return most[root]
        return None

    @cached_property
    def _index(self) -> Mapping[str, int]:
        return {node: at for at, node in enumerate(self._flow.nodes)}

    def _ordered(self, nodes: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(nodes, key=self._index.__getitem__))

    def _roots(self, entry: str | None) -> tuple[str, ...]:
        chosen = self._flow.entries.values() if entry is None else (self._flow.entries[entry],)
        return tuple(dict.fromkeys(each.node for each in chosen if each.node in self._flow.nodes))

    @cached_property
    def _takes(self) -> list[Take]:
        return [take for edge in self._edges for take in takes(edge)]

    @cached_property
    def _startable(self) -> frozenset[str]:
        return following([*starting(self._takes, self._completing), *self._waits(self._completing)], self._roots(None))

    def _waits(self, completes: Collection[str]) -> Iterator[Way]:
        """Yield the ways in which nodes of schedules start, which may need nothing."""
        for schedule in self._flow.schedules.values():
            for node, needs in schedule.needs.items():
                needed = frozenset(needs)
                if needed <= set(completes):
                    yield node, needed

    @cached_property
    def _completing(self) -> frozenset[str]:
        return following(completing(self._edges), ())

    @cached_property
    def _shortest(self) -> Mapping[str, int]:
        return costs(self._edges)

    @cached_property
    def _leaving(self) -> Mapping[str, list[WrittenEdge]]:
        found: dict[str, list[WrittenEdge]] = {}
        for edge in self._edges:
            found.setdefault(edge.source, []).append(edge)
        return found

    @cached_property
    def _strong(self) -> list[set[str]]:
        return list(nx.strongly_connected_components(self._leads))

    @cached_property
    def _leads(self) -> Any:
        made = nx.DiGraph()
        made.add_nodes_from(self._flow.nodes)
        made.add_edges_from((edge.source, node) for edge in self._edges for node in named(edge))
        return made


def _sum_or_largest(edge: WrittenEdge, most: Mapping[str, int]) -> int:
    ways = [most[each] for each in named(edge)]
    return max(ways, default=0) if isinstance(edge.target, Named) else sum(ways)
