"""STG6xx: flows that cannot start, end or go on as they should; the same rules for every system."""

from collections.abc import Mapping

from stagec.core.rule import Family
from stagec.core.value import replace
from stagec.graph import Graph, Trap, build
from stagec.model.flow import Edge, Entry, To

FAMILY = Family(__name__, 600, Graph)
rule = FAMILY.rule


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


def leading_to_gates(graph: Graph) -> frozenset[str]:
    """Return the unreachable nodes that runs need, or from which others are reached that runs need."""
    found: set[str] = set()
    lost = set(graph.unstartable())
    for group in graph.components() if lost else ():
        if group[0] in lost:
            nodes = [graph.flow.nodes[name] for name in group]
            ahead = {target for node in nodes for edge in node.edges for target in targets(edge)}
            if not all(node.idle for node in nodes) or not found.isdisjoint(ahead):
                found.update(group)
    return frozenset(found)


def ends(graph: Graph) -> tuple[Trap, ...]:
    """Return the traps that no answer leads out of; where answers may name any node, one may also lead into a trap.

    Answers lead out of nothing where no node at all completes.
    """
    if not graph.flow.open:
        return graph.traps()
    found = _freely_entered(graph).traps() if is_open(graph) else graph.traps()
    closed = tuple(trap for trap in found if graph.flow.open.isdisjoint(trap.nodes))
    return closed or (() if graph.completing() else found)


def _freely_entered(graph: Graph) -> Graph:
    """Return the graph of a flow in which runs may come to any node, as an answer may name it."""
    named = {f"named {each}": Entry(each, graph.flow.nodes[each].at) for each in graph.unstartable()}
    return build(replace(graph.flow, entries={**graph.flow.entries, **named})) if named else graph


def is_open(graph: Graph) -> bool:
    """Tell whether a run can come to a node whose answers may name any node."""
    return not graph.flow.open.isdisjoint(graph.startable())


def is_told(graph: Graph) -> bool:
    """Tell whether a node that nothing leads to is unreachable for no other reason than that."""
    flow = graph.flow
    return graph.exact and not (flow.suspect or flow.strays) and not is_open(graph) and not ends(graph)


def targets(edge: Edge) -> tuple[str, ...]:
    """Return the nodes that an edge leads to, at once or at last."""
    if not isinstance(edge.target, To):
        return ()
    join = edge.target.join
    return edge.target.nodes if join is None else (*edge.target.nodes, join)


def only_awaited(graph: Graph) -> Mapping[str, tuple[Edge, ...]]:
    """Return the nodes that runs come to on no other way than as a part of what a join waits for, and these ways."""
    ways: dict[str, list[Edge]] = {}
    starts = graph.startable()
    for node in graph.flow.nodes.values():
        for edge in node.edges if node.id in starts else ():
            for target in edge.target.nodes if isinstance(edge.target, To) else ():
                ways.setdefault(target, []).append(edge)
    begun = {entry.node for entry in graph.flow.entries.values()}
    joins = {each.target.join for all_ways in ways.values() for each in all_ways if isinstance(each.target, To)}
    return {
        name: tuple(all_ways)
        for name, all_ways in ways.items()
        if name not in begun | joins and all(isinstance(way.target, To) and way.target.join for way in all_ways)
    }


def order(graph: Graph) -> dict[str, int]:
    """Return the nodes that can start, numbered in the order in which runs come to them."""
    starts = graph.startable()
    found = list(dict.fromkeys(entry.node for entry in graph.flow.entries.values() if entry.node in starts))
    known = set(found)
    for name in found:  # grows while it is read
        for edge in graph.flow.nodes[name].edges:
            fresh = [each for each in dict.fromkeys(targets(edge)) if each in starts and each not in known]
            found.extend(fresh)
            known.update(fresh)
    return {name: at for at, name in enumerate(found)}
