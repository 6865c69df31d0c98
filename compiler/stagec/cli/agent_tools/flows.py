"""The tool that describes flows: all of them in a few lines, one by its nodes, or one node with all that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stagec.check.pipeline import Compilation
from stagec.cli.agent_tools.arguments import LIMIT, OFFSET, TEXTS, Argument, cut
from stagec.cli.agent_tools.open_project import OpenProject, compile_checked
from stagec.cli.unfound import choose_flows
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.words import quote
from stagec.ir.flow import Flow, Node, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.node import ForEach, Fork, Stop, list_opened, list_targets

DESCRIBE = (
    Argument("flow", "string", "The id of a flow; without it, all flows are listed."),
    Argument("node", "string", "A step, stage or phase of the flow: tell all that is known about it."),
    TEXTS,
    LIMIT,
    OFFSET,
)


def describe_flow(project: OpenProject, given: Mapping[str, Any]) -> Object:
    """Return what the flows of a project are, from far or from near."""
    compilation = compile_checked(project.check(given["texts"]))
    if given["flow"] is None and given["node"] is None:
        listed, following = cut(compilation.flows, given)
        return {"flows": [_write_flow(each) for each in listed], "nodes": [], "node": None, "next": following}
    flows = choose_flows(given["flow"], compilation.flows)
    if given["node"] is not None:
        flow = _find_flow(flows, given["node"])
        node = _write_whole(compilation, flow, flow.nodes[given["node"]])
        return {"flows": [_write_flow(flow)], "nodes": [], "node": node, "next": None}
    nodes = [(flow, each) for flow in flows for each in flow.nodes.values()]
    part, following = cut(nodes, given)
    shown = [_write_node(flow, each) for flow, each in part]
    return {"flows": [_write_flow(each) for each in flows], "nodes": shown, "node": None, "next": following}


def _find_flow(flows: Iterable[Flow], node: str) -> Flow:
    known = tuple(flows)
    found = [each for each in known if node in each.nodes]
    if not found:
        near = hint(node, NameIndex({each for flow in known for each in flow.nodes}))
        raise Failure(f"no node is called {quote(node)}{near}")
    if len(found) > 1:
        names = ", ".join(each.id for each in found)
        raise Failure(f"several flows have a node {quote(node)}: {names}; the argument 'flow' names one")
    return found[0]


def _write_flow(flow: Flow) -> Object:
    graph = build(flow)
    return {
        "flow": flow.id,
        "file": flow.at.file,
        "nodes": len(flow.nodes),
        "starts": sorted({each.node for each in flow.begun}),
        "never_start": sorted(graph.unstartable()),
        "most_executions": None if flow.bound is None else flow.bound.executions,
    }


def _write_node(flow: Flow, node: Node) -> dict[str, Json]:
    leads = [_write_edge(each) for each in node.edges]
    for schedule in flow.schedules.values():
        leads += [
            {"on": "completed", "to": [other], "then": None, "end": None}
            for other, needs in schedule.needs.items()
            if node.id in needs
        ]
    return {"node": node.id, "kind": node.kind, "file": node.at.file, "leads_to": leads}


def _write_edge(edge: WrittenEdge) -> Object:
    target = edge.target
    if isinstance(target, Stop):
        return {"on": edge.on, "to": [], "then": None, "end": target.outcome.value}
    join = target.join if isinstance(target, Fork | ForEach) else None
    return {"on": edge.on, "to": list(list_opened(target)), "then": join, "end": None}


def _write_whole(compilation: Compilation, flow: Flow, node: Node) -> Object:
    """Return all that is known about a node: also what leads to it, what it is made of, reads and may call."""
    comes: list[Json] = [
        {"from": edge.source, "on": edge.on}
        for other in flow.nodes.values()
        for edge in other.edges
        if node.id in list_targets(edge.target)
    ]
    for schedule in flow.schedules.values():
        comes += [{"from": each, "on": "completed"} for each in schedule.needs.get(node.id, ())]
    reads: list[Json] = [
        {"path": ".".join(map(str, each.path)), "of": [source.node for source in each.sources]}
        for each in flow.reads
        if each.node == node.id
    ]
    rights = [each.rights.get(node.id) for each in compilation.list_accesses() if each.flow is flow]
    tools: list[Json] = [tool.name for each in rights if each is not None for tool in each.tools]
    return {
        **_write_node(flow, node),
        "begins_runs": any(each.node == node.id for each in flow.begun),
        "comes_from": comes,
        "made_of": [{"what": what, "file": at.file} for what, at in node.parts],
        "reads": reads,
        "tools": tools,
    }
