"""STG6xx: flows that cannot start, end or go on as they should; the same rules for every system."""

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import counted, listing, quote
from stagec.graph import Graph, Trap
from stagec.model.flow import Edge, Node, To

__all__ = [
    "Edge",
    "Finding",
    "Graph",
    "Node",
    "Place",
    "Related",
    "Severity",
    "Trap",
    "counted",
    "ends",
    "is_open",
    "is_told",
    "listing",
    "noun",
    "quote",
    "roots",
    "rule",
    "targets",
]

FAMILY = Family(__name__, 600, Graph)
rule = FAMILY.rule


def noun(graph: Graph, thing: str) -> str:
    """Return what the flow's system calls a `node` or an `outcome`."""
    return graph.flow.names.get(thing, thing)


def roots(graph: Graph) -> tuple[str, ...]:
    """Return the unreachable nodes that stand for all: one of every group that nothing unreachable leads to."""
    lost = set(graph.unstartable())
    if not lost:
        return ()
    led: set[str] = set()
    groups = [group for group in graph.components() if group[0] in lost]
    for group in groups:
        members = set(group)
        for name in group:
            ahead = {target for edge in graph.flow.nodes[name].edges for target in targets(edge)}
            led |= ahead - members
    first = {group for group in groups if not led.intersection(group)}
    order = {name: position for position, name in enumerate(graph.flow.nodes)}
    return tuple(sorted((min(group, key=order.__getitem__) for group in first), key=order.__getitem__))


def ends(graph: Graph) -> tuple[Trap, ...]:
    """Return the traps that no answer leads out of, even where answers may name any node."""
    if not graph.flow.open:
        return graph.traps()
    return tuple(trap for trap in graph.traps() if graph.flow.open.isdisjoint(trap.nodes))


def is_open(graph: Graph) -> bool:
    """Tell whether a run can come to a node whose answers may name any node."""
    return not graph.flow.open.isdisjoint(graph.startable())


def is_told(graph: Graph) -> bool:
    """Tell whether a node that nothing leads to is unreachable for no other reason than that."""
    return graph.exact and not graph.flow.suspect and not is_open(graph) and not ends(graph)


def targets(edge: Edge) -> tuple[str, ...]:
    """Return the nodes that an edge leads to."""
    return edge.target.nodes if isinstance(edge.target, To) else ()
