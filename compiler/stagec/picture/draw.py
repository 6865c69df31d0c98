"""From a graph to a drawing: every node, every way in and out, and what was found wrong where it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.diagnostic import Diagnostic
from stagec.core.words import format_count, listing
from stagec.graph import Graph, noun
from stagec.model.flow import Edge, Flow, To
from stagec.picture.document import (
    DONE,
    FAILED,
    INTERRUPTED,
    Box,
    Picture,
    Role,
    box_of,
    missing_of,
    schedule_of,
    start_of,
)
from stagec.picture.lines import find_shared_picks, lines_of
from stagec.picture.owners import Details, Found, share
from stagec.sources.tree import Tree


def draw(graph: Graph, diagnostics: Iterable[Diagnostic], trees: Mapping[str, Tree]) -> Picture:
    """Return the drawing of one flow; what lies at none of its nodes and moves is kept beside it."""
    flow = graph.flow
    found = share(flow, diagnostics, trees)
    lines = lines_of(flow, found)
    # what stands for nodes of which the answers of several others name one
    choices: list[Box] = []
    shared, reached = find_shared_picks(graph.flow), {box_of(name) for name in graph.startable()}
    entered = {line.target for line in lines if line.target in shared and line.source in reached}
    for box, target in shared.items():
        name = f"one of {format_count(len(target.nodes), noun(graph, 'node'))}"
        choices.append(Box(box, name, Role.CHOICE, is_reached=box in entered))
    nodes = (*_nodes(graph, found, trees), *choices)
    # the ends that a line leads to
    ends: list[Box] = []
    into: dict[str, bool] = {}
    for line in lines:
        into[line.target] = into.get(line.target, False) or line.source in reached
    for name, role in ((DONE, Role.DONE), (FAILED, Role.FAILED), (INTERRUPTED, Role.INTERRUPTED)):
        if name in into:
            ends.append(Box(name, flow.names.get(name, name), role, is_reached=into[name]))
    boxes = {box.id: box for box in (*_starts(flow), *nodes, *ends, *_draw_missing(flow))}
    title = f"{flow.id} ({flow.at.file})"
    return Picture(flow.id, title, boxes, lines, tuple(_remarks(graph)), found.others)


def _starts(flow: Flow) -> Iterator[Box]:
    """Yield one box for the entries that begin at the same node."""
    selectors: dict[str, list[str]] = {}
    for name, entry in (*flow.entries.items(), *flow.lost_entries):
        selectors.setdefault(entry.node, []).append(name)
    for node, names in selectors.items():
        told = ", ".join(dict.fromkeys(name for name in names if name))
        yield Box(start_of(flow, node), f"start: {told}" if told else "start", Role.START)
    for name in flow.schedules:
        yield Box(schedule_of(name), f"start: {name}" if name else "start", Role.START)


def _nodes(graph: Graph, found: Found, trees: Mapping[str, Tree]) -> Iterator[Box]:
    flow, reached, details = graph.flow, graph.startable(), Details(trees)
    joins = {edge.target.join for edge in _edges(flow) if isinstance(edge.target, To)}
    for schedule in flow.schedules.values():
        joins.update(name for name, needs in schedule.needs.items() if len(needs) > 1)
    for name, node in graph.flow.nodes.items():
        yield Box(
            id=box_of(name),
            name=name,
            role=Role.NODE,
            kind=node.kind,
            is_reached=name in reached,
            is_join=name in joins,
            found=found.by_node.get(name, ()),
            details=details.of(node),
            notes=(f"agent {node.agent}",) if node.agent is not None else (),
            opens=node.agent,
        )


def _edges(flow: Flow) -> Iterator[Edge]:
    return (edge for node in flow.nodes.values() for edge in node.edges)


def _draw_missing(flow: Flow) -> Iterator[Box]:
    """Yield a box for every name that is led to and that nothing has."""
    named = [entry.node for entry in (*flow.begun, *(entry for _, entry in flow.lost_entries))]
    for edge in (*_edges(flow), *flow.lost):
        if isinstance(edge.target, To):
            named.extend(edge.target.nodes)
            named.extend(() if edge.target.join is None else (edge.target.join,))
    for name in dict.fromkeys(named):
        if name not in flow.nodes:
            yield Box(missing_of(name), name, Role.MISSING)


def _remarks(graph: Graph) -> Iterator[str]:
    flow, called = graph.flow, noun(graph, "node")
    unreached = graph.unstartable()
    if not graph.startable():
        yield "no run can start"
    elif all(graph.shortest_run(name) is None for name in (*flow.entries, *flow.schedules)):
        yield "no run can end as done"
    if unreached:
        yield f"{format_count(len(unreached), called)} {'is' if len(unreached) == 1 else 'are'} never reached"
    if not graph.exact:
        yield "not everything could be read: there may be more ways than are drawn"
    if flow.open:
        yield f"{listing(sorted(flow.open))} may also lead to any {called} that an answer names"
