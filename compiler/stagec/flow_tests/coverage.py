"""How much of a plan tests have run: its nodes and its edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.core.value import value
from stagec.core.words import quote
from stagec.plan import Plan
from stagec.plan.node import Edge, Pick, Stop, list_targets
from stagec.runtime import Move


@value
class Coverage:
    """The nodes and edges of a plan, and those that were run; an edge is its node and its number there."""

    nodes: frozenset[str]
    edges: frozenset[tuple[str, int]]
    run_nodes: frozenset[str] = frozenset()
    run_edges: frozenset[tuple[str, int]] = frozenset()

    @property
    def percent(self) -> float:
        """The share of nodes and edges that were run, from 0 to 100."""
        known = len(self.nodes) + len(self.edges)
        return 100.0 if not known else 100.0 * (len(self.run_nodes) + len(self.run_edges)) / known


def measure_coverage(plan: Plan, moves: Iterable[Move]) -> Coverage:
    """Return what of a plan the moves of runs cover."""
    nodes, edges = set(), set()
    for move in moves:
        nodes.add(move.node)
        taken = _find_edge(plan, move)
        if taken is not None:
            edges.add((move.node, taken))
    every = frozenset((name, number) for name, node in plan.nodes.items() for number in range(len(node.edges)))
    return Coverage(frozenset(plan.nodes), every, frozenset(nodes), frozenset(edges))


def _find_edge(plan: Plan, move: Move) -> int | None:
    """Return the number of the edge that a move took: the first that leads where it led, or that ends its branch."""
    possible = [(number, each) for number, each in enumerate(plan.nodes[move.node].edges) if each.on == move.outcome]
    led = set(move.to)
    leading = (number for number, each in possible if led and led <= set(_list_ends(plan, each)))
    ending = (number for number, each in possible if isinstance(each.target, Stop))
    return next(leading, next(ending, None))


def _list_ends(plan: Plan, edge: Edge) -> tuple[str, ...]:
    if isinstance(edge.target, Pick):
        return tuple(plan.choices[edge.target.choices].values())
    return list_targets(edge.target)


def describe_missing(plan: Plan, coverage: Coverage) -> Iterator[str]:
    """Yield a line for each node that no test ran, and for each edge of the others that none took."""
    for name in sorted(coverage.nodes - coverage.run_nodes):
        yield f"no test runs {quote(name)}"
    for name, number in sorted(coverage.edges - coverage.run_edges):
        if name in coverage.run_nodes:
            edge = plan.nodes[name].edges[number]
            ends = ", ".join(map(quote, _list_ends(plan, edge))) or "the end"
            case = f", case {number + 1}" if edge.when else ""
            yield f"no test takes {quote(name)} → {ends} on {quote(edge.on)}{case}"
