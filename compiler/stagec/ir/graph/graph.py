"""One flow, read once into integers, and the answers to all questions about it, each found when first asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from stagec.core.place import Place
from stagec.core.precedence import Neighbours, components, repeats
from stagec.core.value import value
from stagec.ir.flow import Flow, WrittenEdge
from stagec.ir.graph.reachability import (
    MOST,
    Adjacency,
    Clauses,
    Dominators,
    completion_clauses,
    find_shortest,
    read_flow,
    starting_clauses,
)


def build(flow: Flow) -> Graph:
    """Return the graph of a flow, in linear time."""
    return Graph(flow)


def noun(graph: Graph, thing: str) -> str:
    """Return what the flow's system calls a `node` or an `outcome`."""
    return graph.flow.names.get(thing, thing)


class Graph:
    """A flow and what follows from it, in flow order wherever an order is left open.

    All answers are linear in nodes and edges; forks cost `shortest_run` a logarithm.
    """

    def __init__(self, flow: Flow) -> None:
        self._net: Adjacency = read_flow(flow)
        self._flow = flow

    @property
    def flow(self) -> Flow:
        """The flow this is the graph of."""
        return self._flow

    @property
    def dangling(self) -> tuple[WrittenEdge, ...]:
        """The edges that name a node which does not exist; no answer regards them."""
        return self._net.dangling

    @property
    def exact(self) -> bool:
        """Whether all edges and entries are known, so that something may be said about what is absent."""
        entries, schedules = self._flow.entries, self._flow.schedules
        known = all(each.node in self._net.index for each in entries.values())
        is_begun = bool(entries or schedules) and len(self._net.schedules) == len(schedules)
        return self._flow.exact and known and is_begun and not self._net.dangling

    def startable(self) -> frozenset[str]:
        """Return the nodes that can start, all entries taken together.

        A join starts when every node of its scope can start and end; in a chain each starts when
        those before it can end, in a schedule when all that it needs can start and end.
        """
        return self._startable

    def unstartable(self) -> tuple[str, ...]:
        """Return the nodes that can never start."""
        return self._unstartable

    def completing(self) -> frozenset[str]:
        """Return the nodes from which a run, or the scope they are in, can end as done.

        A fork or chain ends when each of its nodes ends and its join, if it has one, does. Whether nodes can start at
        all is not asked here.
        """
        return self._completing

    def find_stuck(self) -> tuple[str, ...]:
        """Return the nodes that can start and that lead to no exit of the flow."""
        return self._stuck

    def traps(self) -> tuple[Trap, ...]:
        """Return the places where stuck runs end up, each once."""
        if not self.find_stuck():
            return ()
        starts, every = self._all_started, [True] * len(self._leaves)
        led = starting_clauses(self._net, every).solve(self._begun)
        flags = zip(self._net.steps, self._leaves, starts, led, strict=False)
        waits = [not ends and (begins or not reached) for _, ends, begins, reached in flags]
        for hub in self._net.hubs:  # without a node behind it that waits, it is not what runs end up in
            waits[hub] = waits[hub] and any(waits[each] for each in self._net.steps[hub])
        found = sorted(find_traps(self._leads, starts, waits))
        return tuple([Trap(self._name(each), cycle) for each, cycle in found])

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the strongly connected components, each behind all it leads to.

        A node leads to all nodes of its targets, joins included.
        """
        return tuple([names for each in self._components if (names := self._name(each))])

    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return the components that lead back into themselves."""
        found = sorted(each for each in self._components if repeats(self._leads, each))
        return tuple([self._name(each) for each in found])

    def is_before(self, node: str, other: str) -> bool:
        """Tell whether every way to another node comes by this one first, or no way leads there.

        A join counts as what follows the node that opens its scope. An answer that may name any node is a way to all.
        """
        index, found = self._net.index, self._dominators
        return not found.is_reached(index[other]) or found.is_before(index[node], index[other])

    def shortest_run(self, entry: str) -> int | None:
        """Return the least number of node executions with which a run comes to an exit, None when none does."""
        if entry in self._flow.schedules:
            costs = [self._shortest[node] for node in self._net.schedules.get(entry, ())]
            known = [each for each in costs if each is not None]
            return min(sum(known), MOST) if costs and len(known) == len(costs) else None
        return next((self._shortest[root] for root in self._roots(entry)), None)

    def grounds(self, nodes: Iterable[str]) -> tuple[Place, ...]:
        """Return what conclusions about nodes rest on and is written elsewhere: their schemas."""
        parts = (part for each in nodes if each in self._flow.nodes for part in self._flow.nodes[each].parts)
        return tuple([at for called, at in parts if called == "schema"])

    def _roots(self, entry: str | None) -> tuple[int, ...]:
        chosen = self._flow.entries.values() if entry is None else (self._flow.entries[entry],)
        found = (self._net.index.get(each.node) for each in chosen)
        return tuple(dict.fromkeys(each for each in found if each is not None))

    @cached_property
    def _begun(self) -> tuple[int, ...]:
        """The nodes with which runs begin."""
        every = (node for schedule in self._net.schedules.values() for node, needs in schedule.items() if not needs)
        return tuple(dict.fromkeys((*self._roots(None), *every)))

    def _name(self, nodes: Iterable[int]) -> tuple[str, ...]:
        ids = self._net.ids
        return tuple([ids[each] for each in nodes if each < len(ids)])

    def _name_where(self, flags: Sequence[bool]) -> list[str]:
        return [name for name, flag in zip(self._net.ids, flags, strict=False) if flag]

    @cached_property
    def _exiting(self) -> Clauses:
        """What leads to an exit."""
        return completion_clauses(self._net, self._net.exits)

    @cached_property
    def _leaves(self) -> Sequence[bool]:
        return self._exiting.solve()

    @cached_property
    def _completes(self) -> Sequence[bool]:
        if set(self._net.exits) == set(self._net.ends):
            return self._leaves
        return completion_clauses(self._net, self._net.ends).solve()

    @cached_property
    def _completing(self) -> frozenset[str]:
        return frozenset(self._name_where(self._completes))

    @cached_property
    def _starting(self) -> Clauses:
        return starting_clauses(self._net, self._completes)

    @cached_property
    def _all_started(self) -> Sequence[bool]:
        return self._starting.solve(self._begun)

    @cached_property
    def _startable(self) -> frozenset[str]:
        return frozenset(self._name_where(self._all_started))

    @cached_property
    def _unstartable(self) -> tuple[str, ...]:
        return tuple([each for each in self._net.ids if each not in self._startable])

    @cached_property
    def _stuck(self) -> tuple[str, ...]:
        stuck = self._startable.difference(self._name_where(self._leaves))
        return tuple([each for each in self._net.ids if each in stuck]) if stuck else ()

    @cached_property
    def _leads(self) -> Neighbours:
        return self._net.leads()

    @cached_property
    def _components(self) -> tuple[list[int], ...]:
        return tuple(components(self._leads))

    @cached_property
    def _dominators(self) -> Dominators:
        scheduled = (node for schedule in self._net.schedules.values() for node in schedule)
        leads, index = self._leads, self._net.index
        if self._flow.open:
            leads = [*map(list, leads), list(dict.fromkeys(index[each] for each in self._flow.called.values()))]
            for name in self._flow.open:
                leads[index[name]].append(len(leads) - 1)
        return Dominators(leads, tuple(dict.fromkeys((*self._roots(None), *scheduled))))

    @cached_property
    def _shortest(self) -> list[int | None]:
        return find_shortest(self._net, self._exiting)


@value
class Trap:
    """Nodes that a run can enter and never leave for a completing end: a cycle without an exit, or a dead end.

    Every node that is stuck belongs to a trap, leads into one, or needs a node that could not start in any case.
    """

    nodes: tuple[str, ...]
    cycle: bool


def find_traps(leads: Neighbours, starts: Sequence[bool], waits: Sequence[bool]) -> Iterator[tuple[list[int], bool]]:
    """Yield the nodes of each trap and whether it is a cycle; `waits` tells of each node whether it counts.

    A node that does not complete needs another such node on each of its edges, unless they all fail; a trap is a
    component of them that needs no other. One in which nothing can start is no trap: nothing gets there. What cannot
    start only because one of the others does not complete does not count: then that is the reason.
    """
    kept = [[each for each in targets if waits[each]] if waits[node] else [] for node, targets in enumerate(leads)]
    found = [-1] * len(leads)
    for at, component in enumerate(components(kept)):
        for node in component:
            found[node] = at
        if not waits[component[0]] or not any(starts[node] for node in component):
            continue
        if all(found[each] == at for node in component for each in kept[node]):
            yield component, repeats(kept, component)
