"""STG600-STG649: flows that cannot start, end or go on as they should; the same rules for every system."""

from collections.abc import Collection, Iterable, Mapping
from operator import itemgetter

from stagec.core.rule import Family, Related
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.graph import Graph, Trap, build, noun
from stagec.model.flow import Edge, Entry, Pick, To

FAMILY = Family(__name__, (range(600, 650),), Graph)
rule = FAMILY.rule

_SHOWN = 8
"""Ways to a node of which something is said."""


def roots(graph: Graph) -> tuple[str, ...]:
    """Return the unreachable nodes that stand for all: one of every group that nothing unreachable leads to."""
    lost = set(graph.unstartable())
    if not lost:
        return ()
    groups = [group for group in graph.components() if group[0] in lost]
    led = _find_led(graph, {name: at for at, group in enumerate(groups) for name in group})
    first = {group for group in groups if not led.intersection(group)}
    order = {name: position for position, name in enumerate(graph.flow.nodes)}
    return tuple(sorted((min(group, key=order.__getitem__) for group in first), key=order.__getitem__))


def _find_led(graph: Graph, groups: Mapping[str, int]) -> set[str]:
    """Return the nodes of some groups to which a node of another one leads; targets that many share are read once."""
    led: set[str] = set()
    shared: dict[tuple[str, ...], set[int]] = {}
    for name, group in groups.items():
        for edge in graph.flow.nodes[name].edges:
            shared.setdefault(targets(edge), set()).add(group)
    for ahead, sources in shared.items():
        led.update(each for each in ahead if each in groups and not sources <= {groups[each]})
    return led


def leading_to_gates(graph: Graph) -> frozenset[str]:
    """Return the unreachable nodes that runs need, or from which others are reached that runs need."""
    found: set[str] = set()
    lost = set(graph.unstartable())
    for group in graph.components() if lost else ():
        if group[0] in lost:
            nodes = [graph.flow.nodes[name] for name in group]
            ahead = (target for node in nodes for edge in node.edges for target in targets(edge))
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
    if isinstance(edge.target, Pick):
        return edge.target.nodes
    if not isinstance(edge.target, To):
        return ()
    join = edge.target.join
    return edge.target.nodes if join is None else (*edge.target.nodes, join)


def find_ignored(graph: Graph, names: Iterable[str]) -> Mapping[str, tuple[str, tuple[Related, ...]]]:
    """Return what must be said of moves to some nodes that no run follows: the end of a sentence, and the places."""
    wanted = dict.fromkeys(names)
    found: dict[str, list[Edge]] = {}
    for edge in graph.flow.ignored if wanted else ():
        for target in targets(edge):
            found.setdefault(graph.flow.called.get(target, target), []).append(edge)
    what = noun(graph, "node")
    return {
        name: (
            f"; {what} {quote(edges[0].source)} names it under {quote(edges[0].outcome)}, which no run follows",
            tuple(Related(edge.at, "no run follows this") for edge in edges[:_SHOWN]),
        )
        for name, edges in found.items()
        if name in wanted
    }


def only_awaited(graph: Graph) -> Mapping[str, tuple[Edge, ...]]:
    """Return the nodes that runs come to on no other way than as a part of what a join waits for, and these ways."""
    ways: dict[str, list[Edge]] = {}
    starts = graph.startable()
    for node in graph.flow.nodes.values():
        for edge in node.edges if node.id in starts else ():
            for target in edge.target.nodes if isinstance(edge.target, To) else ():
                ways.setdefault(target, []).append(edge)
    begun = {entry.node for entry in graph.flow.begun} | _list_picked(graph)
    joins = {each.target.join for all_ways in ways.values() for each in all_ways if isinstance(each.target, To)}
    return {
        name: tuple(all_ways)
        for name, all_ways in ways.items()
        if name not in begun | joins and all(isinstance(way.target, To) and way.target.join for way in all_ways)
    }


def first_ways(graph: Graph, names: Collection[str]) -> Mapping[str, list[Edge]]:
    """Return the first edges that lead to each of some nodes; targets that many edges share are read once."""
    shared: dict[tuple[str, ...], list[tuple[int, Edge]]] = {}
    every = (edge for node in graph.flow.nodes.values() for edge in node.edges) if names else ()
    for numbered in enumerate(every):
        shared.setdefault(targets(numbered[1]), []).append(numbered)
    found: dict[str, list[tuple[int, Edge]]] = {name: [] for name in names}
    for ahead, ways in shared.items():
        for each in found.keys() & ahead:
            found[each] += ways[:_SHOWN]
    return {name: [edge for _, edge in sorted(ways, key=itemgetter(0))[:_SHOWN]] for name, ways in found.items()}


def _list_picked(graph: Graph) -> frozenset[str]:
    """Return the nodes that answers may name; a node that waits for all its edges is none of them."""
    return frozenset[str]().union(*(target.nodes for target, _ in graph.flow.picks))


def order(graph: Graph) -> dict[str, int]:
    """Return the nodes that can start, numbered in the order in which runs come to them."""
    starts = graph.startable()
    found = list(dict.fromkeys(entry.node for entry in graph.flow.begun if entry.node in starts))
    known = set(found)
    for name in found:  # grows while it is read
        for edge in graph.flow.nodes[name].edges:
            fresh = [each for each in dict.fromkeys(targets(edge)) if each in starts and each not in known]
            found.extend(fresh)
            known.update(fresh)
    return {name: at for at, name in enumerate(found)}
