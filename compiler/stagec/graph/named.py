"""What the edges of a flow name, and which of them name nothing."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.model.flow import Back, Edge, Flow, To


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
