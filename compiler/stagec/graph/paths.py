"""Shortest ways to nodes, as the edges that are taken."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stagec.graph.adjacency import plain
from stagec.model.flow import Edge, Flow, Mode, Target, To


def arrivals(flow: Flow, root: str, starts: Collection[str], completes: Collection[str]) -> Mapping[str, Edge | None]:
    """Return for each node that can start the edge on which a shortest way from the root arrives, None for the root.

    `starts` are the nodes that can start in a run from the root, `completes` those that can end.
    """
    found: dict[str, Edge | None] = {root: None}
    order = [root]
    for source in order:  # grows while it is read
        for edge in flow.nodes[source].edges:
            fresh = dict.fromkeys([each for each in _begun(flow, edge.target, starts, completes) if each not in found])
            order.extend(fresh)
            found.update(dict.fromkeys(fresh, edge))
    return found


def way(arrived: Mapping[str, Edge | None], node: str) -> tuple[Edge, ...]:
    """Return the edges from the root to a node that is arrived at."""
    back, edge = [], arrived[node]
    while edge is not None:
        back.append(edge)
        edge = arrived[edge.source]
    return tuple(reversed(back))


def _begun(flow: Flow, target: Target, starts: Collection[str], completes: Collection[str]) -> Iterable[str]:
    if not isinstance(target, To):
        return ()
    if plain(target):
        return target.nodes if target.nodes[0] in starts else ()
    return _in_scope(target, starts, completes) if _known(flow, target) else ()


def _known(flow: Flow, target: To) -> bool:
    return all(each in flow.nodes for each in target.nodes) and (target.join is None or target.join in flow.nodes)


def _in_scope(target: To, starts: Collection[str], completes: Collection[str]) -> Iterator[str]:
    """Yield the nodes that start because an edge is taken, in a chain and at a join only while all before can end."""
    ended = True
    for each in target.nodes:
        if each in starts and (ended or target.mode is not Mode.CHAIN):
            yield each
        ended = ended and each in starts and each in completes
    if target.join is not None and ended and target.join in starts:
        yield target.join
