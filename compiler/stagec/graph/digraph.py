"""A flow as a networkx graph, for drawing and for every question that nobody foresaw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stagec.graph.adjacency import plain
from stagec.model.flow import Back, Edge, Flow, Mode, To

Move = tuple[str, str, str]
"""Source, target and role of one arrow."""


def digraph(flow: Flow) -> Any:
    """Return a frozen `networkx.MultiDiGraph` of all nodes and of all edges whose targets exist."""
    import networkx as nx

    made = nx.MultiDiGraph()
    made.add_nodes_from(flow.nodes)
    known = [edge for edge in edges(flow) if not dangles(flow, edge)]
    for edge in known:
        for source, target, role in moves(edge):
            made.add_edge(source, target, outcome=edge.outcome, at=edge.at, role=role)
    callers = callers_of(known)
    for edge in known:
        for caller in callers.get(edge.source, ()) if isinstance(edge.target, Back) else ():
            made.add_edge(edge.source, caller, outcome=edge.outcome, at=edge.at, role="back")
    return nx.freeze(made)


def edges(flow: Flow) -> Iterator[Edge]:
    """Yield all edges of a flow."""
    for node in flow.nodes.values():
        yield from node.edges


def named(edge: Edge) -> tuple[str, ...]:
    """Return the nodes that an edge names, its join included."""
    if not isinstance(edge.target, To):
        return ()
    join = edge.target.join
    return edge.target.nodes if join is None else (*edge.target.nodes, join)


def dangles(flow: Flow, edge: Edge) -> bool:
    """Tell whether an edge names a node that does not exist."""
    return not all(each in flow.nodes for each in named(edge))


def callers_of(known: list[Edge]) -> dict[str, dict[str, None]]:
    """Return, for each node that goes back, the nodes with an edge to it."""
    found: dict[str, dict[str, None]] = {edge.source: {} for edge in known if isinstance(edge.target, Back)}
    for edge in known if found else ():
        for node in found.keys() & named(edge):
            found[node][edge.source] = None
    return found


def moves(edge: Edge) -> Iterator[Move]:
    """Yield which node is followed by which when an edge is taken."""
    target = edge.target
    if not isinstance(target, To):
        return
    if target.mode is Mode.CHAIN:
        order = (edge.source, *target.nodes)
        for role, source, node in zip(("branch", *("next" for _ in order)), order, order[1:], strict=False):
            yield source, node, role
        last = order[-1:]
    else:
        for node in target.nodes:
            yield edge.source, node, "step" if plain(target) else "branch"
        last = target.nodes or (edge.source,)
    if target.join is not None:
        for node in last:
            yield node, target.join, "join"
