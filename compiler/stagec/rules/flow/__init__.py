"""STG6xx: flows that cannot start, end or go on as they should; the same rules for every system."""

from stagec.core.diagnostic import Severity
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import counted, listing, quote
from stagec.graph import Graph, Trap
from stagec.model.flow import Edge, Node, To

__all__ = [
    "Edge",
    "Finding",
    "Graph",
    "Node",
    "Related",
    "Severity",
    "To",
    "Trap",
    "counted",
    "lead",
    "listing",
    "noun",
    "quote",
    "roots",
    "rule",
]

FAMILY = Family(__name__, 600, Graph)
rule = FAMILY.rule


def noun(graph: Graph, thing: str) -> str:
    """Return what the flow's system calls a `node` or an `outcome`."""
    return graph.flow.names.get(thing, thing)


def roots(graph: Graph) -> tuple[str, ...]:
    """Return the unreachable nodes that stand for all: one of every group that nothing unreachable leads to."""
    lost = set(graph.unstartable())
    led: set[str] = set()
    groups = [group for group in graph.components() if group[0] in lost]
    for group in groups:
        members = set(group)
        for name in group:
            led.update(target for target in lead(graph, name) if target not in members)
    first = {group for group in groups if not led.intersection(group)}
    order = {name: position for position, name in enumerate(graph.flow.nodes)}
    return tuple(sorted((min(group, key=order.__getitem__) for group in first), key=order.__getitem__))


def lead(graph: Graph, name: str) -> tuple[str, ...]:
    """Return the nodes that the edges of a node lead to."""
    targets = (edge.target for edge in graph.flow.nodes[name].edges)
    return tuple(node for target in targets if isinstance(target, To) for node in target.nodes)
