"""The same questions answered through networkx: slower, by other algorithms, for callers who use it anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from stagec.graph.fixpoints import Take, completing, costs, following, starting, takes
from stagec.graph.named import callers_of, dangles, edges, named
from stagec.graph.questions import Trap
from stagec.graph.runs import MOST
from stagec.model.flow import Edge, Flow

_OUTSIDE = ()
"""A node before all entries and behind all ends; no id is a tuple."""


class NetworkxGraph:
    """A flow and what follows from it; `Questions` says what each answer means.

    Dominators may take quadratic time, and so may flows that wait at many joins one behind the other.
    """

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._edges = [edge for edge in edges(flow) if not dangles(flow, edge)]
        self._known_starts: dict[tuple[str, ...], frozenset[str]] = {}

    @property
    def flow(self) -> Flow:
        """The flow this is the graph of."""
        return self._flow

    @property
    def dangling(self) -> tuple[Edge, ...]:
        """The edges that name a node which does not exist."""
        return tuple(edge for edge in edges(self._flow) if dangles(self._flow, edge))

    @property
    def exact(self) -> bool:
        """Whether all edges and entries are known."""
        entries = [each.node for each in self._flow.entries.values()]
        return self._flow.exact and not self.dangling and bool(entries) and self._flow.nodes.keys() >= set(entries)

    def startable(self) -> frozenset[str]:
        """Return the nodes that can start, all entries taken together."""
        return self._started(self._roots(None))

    def startable_from(self, entry: str) -> frozenset[str]:
        """Return the nodes that can start in a run from one entry."""
        return self._started(self._roots(entry))

    def unstartable(self) -> tuple[str, ...]:
        """Return the nodes that can never start."""
        return self._ordered(self._flow.nodes.keys() - self.startable())

    def completing(self) -> frozenset[str]:
        """Return the nodes from which a run, or the scope they are in, can end as done."""
        return self._completing

    def stuck(self) -> tuple[str, ...]:
        """Return the nodes that can start and are not completing."""
        return self._ordered(self.startable() - self.completing())

    def traps(self) -> tuple[Trap, ...]:
        """Return the places where stuck runs end up."""
        import networkx as nx

        every = frozenset(self._flow.nodes)
        blocked = following(starting(self._flow, self._takes, every), self._roots(None)) - self.startable()
        kept = self._leads.subgraph(every - self.completing() - blocked)
        bottoms = nx.attracting_components(kept)
        found = [self._ordered(nodes) for nodes in bottoms if not self.startable().isdisjoint(nodes)]
        cyclic = [len(nodes) > 1 or kept.has_edge(nodes[0], nodes[0]) for nodes in found]
        return tuple(sorted(map(Trap, found, cyclic), key=lambda trap: self._index[trap.nodes[0]]))

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the strongly connected components, each behind all it leads to."""
        import networkx as nx

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
        return next((self._shortest.get(root) for root in self._roots(entry)), None)

    def longest_run(self, entry: str) -> int | None:
        """Return the largest number of node executions of any run."""
        import networkx as nx

        most: dict[str, int] = {}
        leaving = self._leaving
        for root in self._roots(entry):
            inside = self._leads.subgraph({root, *nx.descendants(self._leads, root)})
            if not nx.is_directed_acyclic_graph(inside):
                return None
            for node in reversed(list(nx.topological_sort(inside))):
                ways = (sum(most[each] for each in named(edge)) for edge in leaving.get(node, ()))
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

    def _started(self, roots: tuple[str, ...]) -> frozenset[str]:
        if roots not in self._known_starts:
            self._known_starts[roots] = following(self._starting, roots)
        return self._known_starts[roots]

    @cached_property
    def _takes(self) -> list[Take]:
        return [take for edge in self._edges for take in takes(edge)]

    @cached_property
    def _starting(self) -> list[tuple[str, frozenset[str]]]:
        return starting(self._flow, self._takes, self._completing)

    @cached_property
    def _completing(self) -> frozenset[str]:
        return following(completing(self._edges), ())

    @cached_property
    def _shortest(self) -> Mapping[str, int]:
        return costs(self._flow, self._edges)

    @cached_property
    def _leaving(self) -> Mapping[str, list[Edge]]:
        found: dict[str, list[Edge]] = {}
        for edge in self._edges:
            found.setdefault(edge.source, []).append(edge)
        return found

    @cached_property
    def _strong(self) -> list[set[str]]:
        import networkx as nx

        return list(nx.strongly_connected_components(self._leads))

    @cached_property
    def _leads(self) -> Any:
        import networkx as nx

        made = nx.DiGraph()
        made.add_nodes_from(self._flow.nodes)
        made.add_edges_from((edge.source, node) for edge in self._edges for node in named(edge))
        made.add_edges_from((node, each) for node, callers in callers_of(self._edges).items() for each in callers)
        return made
