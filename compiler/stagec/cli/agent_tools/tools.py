"""The tools of `stagec mcp`, each with its arguments and its answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stagec.check.pipeline import Compilation, list_families
from stagec.cli.agent_tools import arguments as answers
from stagec.cli.agent_tools import documents
from stagec.cli.agent_tools.arguments import LIMIT, OFFSET, TEXTS, Argument, cut, read_arguments, write_schema
from stagec.cli.agent_tools.documents import Invoke, Printer
from stagec.cli.agent_tools.open_project import Hunk, OpenProject, compile_checked, list_hunks
from stagec.cli.rule_catalogue import CataloguedRule, find_rules, list_rules
from stagec.cli.unfound import choose_flows
from stagec.core.diagnostic import Diagnostic, Remark, Severity
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Span
from stagec.core.words import quote
from stagec.ir.flow import Flow, FlowNode, WrittenEdge
from stagec.ir.graph import build
from stagec.ir.plan.node import ForEach, Fork, Stop, list_opened, list_targets
from stagec.runtime.world.tool_server import ServedTool

_SEVERITIES = tuple(each.value for each in Severity)
VALIDATE = (
    Argument("file", "string", "Only the findings in this file."),
    Argument("rule", "string", "Only the findings of this rule: its code or its name."),
    Argument("severity", "string", "Only the findings of this severity.", choices=_SEVERITIES),
    Argument("details", "boolean", "Also tell the places that explain a finding, and the lines that its fix changes."),
    TEXTS,
    LIMIT,
    OFFSET,
)
EXPLAIN = (Argument("rule", "string", "The code of a rule, such as STG201, or its name.", is_required=True),)
SEARCH = (
    Argument("words", "string", "Words that the page of a rule has, in any order.", is_required=True),
    LIMIT,
    OFFSET,
)


def validate(project: OpenProject, given: Mapping[str, Any]) -> Object:
    """Return the findings of a project, of which a few are told."""
    compilation = compile_checked(project.check(given["texts"]))
    file = None if given["file"] is None else project.name(given["file"])
    if file is not None and file not in compilation.trees:
        raise Failure(f"{quote(file)} is no file that stagec reads in this project")
    codes = None if given["rule"] is None else {each.rule.code for each in _find_rules(given["rule"])}
    found = [
        each
        for each in compilation.diagnostics
        if (file is None or each.at.file == file)
        and (codes is None or each.code in codes)
        and given["severity"] in {None, each.severity.value}
    ]
    counts = Counter(each.severity for each in compilation.diagnostics)
    part, following = cut(found, given)
    return {
        **{f"{each.value}s": counts[each] for each in Severity},
        "files": len(compilation.trees),
        "flows": [each.id for each in compilation.flows],
        "found": len(found),
        "findings": [_write_finding(each, compilation, is_whole=bool(given["details"])) for each in part],
        "next": following,
    }


def _write_finding(each: Diagnostic, compilation: Compilation, *, is_whole: bool) -> Object:
    told: dict[str, Json] = {
        "rule": each.code,
        "name": each.name,
        "severity": each.severity.value,
        "file": each.at.file,
        **_write_start(each.span),
        "message": each.message,
        "fix": None if each.fix is None else {"what": each.fix.message, "certain": each.fix.is_safe},
    }
    if is_whole:
        told["related"] = [_write_remark(one) for one in each.related]
        hunks = () if each.fix is None else list_hunks(compilation, each)
        told["edits"] = [_write_hunk(one) for one in hunks]
    return told


def _write_start(span: Span) -> dict[str, Json]:
    return {"line": span.start.line, "column": span.start.column}


def _write_remark(each: Remark) -> Object:
    return {"file": each.at.file, **_write_start(each.span), "message": each.message}


def _write_hunk(each: Hunk) -> Object:
    return {"file": each.file, "line": each.line, "old": each.old, "new": each.new}


def explain(given: Mapping[str, Any]) -> Object:
    """Return the page of a rule."""
    found = _find_rules(given["rule"])
    if len(found) > 1:
        names = ", ".join(f"{each.rule.code} {each.rule.name}" for each in found)
        raise Failure(f"{quote(given['rule'])} means {len(found)} rules: {names}")
    return {**_write_rule(found[0]), "page": found[0].rule.explanation.strip()}


def search_rules(given: Mapping[str, Any]) -> Object:
    """Return the rules whose pages have all words, those first whose names have most of them."""
    words = [word.lower() for word in re.findall(r"\w+", given["words"])]
    every = list_rules(list_families())
    found = [each for each in every if words and all(word in _text_of(each) for word in words)]
    found.sort(key=lambda each: -sum(word in f"{each.rule.code} {each.rule.name}".lower() for word in words))
    part, following = cut(found, given)
    return {"found": len(found), "rules": [_write_rule(each) for each in part], "next": following}


def _text_of(each: CataloguedRule) -> str:
    rule = each.rule
    return f"{rule.code} {rule.name} {each.family.name} {' '.join(rule.groups)} {rule.explanation}".lower()


def _write_rule(each: CataloguedRule) -> Object:
    return {
        "rule": each.rule.code,
        "name": each.rule.name,
        "severity": each.rule.severity.value,
        "optional": each.family.asks_first(each.rule),
        "summary": each.summary,
    }


def _find_rules(called: str) -> tuple[CataloguedRule, ...]:
    return find_rules(list_rules(list_families()), called)


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


def _write_node(flow: Flow, node: FlowNode) -> dict[str, Json]:
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
        return {"on": edge.on, "to": [], "then": None, "end": target.outcome.value, "wait_milliseconds": 0}
    join = target.join if isinstance(target, Fork | ForEach) else None
    wait = edge.edge.wait
    return {"on": edge.on, "to": list(list_opened(target)), "then": join, "end": None, "wait_milliseconds": wait}


def _write_whole(compilation: Compilation, flow: Flow, node: FlowNode) -> Object:
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


INSTRUCTIONS = """stagec checks declarative agent workflows: step registries, stage definitions and pipelines.
Call `validate` first. For a finding that you do not understand, call `explain` with its rule. `validate` with
`details` tells the lines that each fix changes. Try an edit with `texts` before you write it, and call `validate`
again afterwards, until there are no errors. `describe_flow` tells how the steps are connected. No tool writes files.
"""
Answer = Callable[[Mapping[str, Any]], Object]


def make_tools(folder: Path, invoke: Invoke) -> tuple[ServedTool, ...]:
    """Return the tools for the project of a folder, which is the working directory when they are called."""
    project, printer = OpenProject(folder), Printer(invoke)
    return (*_make_readers(project), *_make_printers(project, printer))


def _make_readers(project: OpenProject) -> tuple[ServedTool, ...]:
    return (
        _make(
            "validate",
            "Check the project as `stagec validate` does: how much is wrong, and the first findings with their places.",
            (VALIDATE, answers.FINDINGS),
            partial(validate, project),
        ),
        _make(
            "explain",
            "The page of a rule: why it exists, how to fix its findings, and examples.",
            (EXPLAIN, answers.PAGE),
            explain,
        ),
        _make(
            "search_rules",
            "Find rules by words, to learn what stagec checks.",
            (SEARCH, answers.RULES),
            search_rules,
        ),
        _make(
            "describe_flow",
            "List the flows of the project, the nodes of one flow and where each leads, or all about one node.",
            (DESCRIBE, answers.FLOWS),
            partial(describe_flow, project),
        ),
    )


def _make_printers(project: OpenProject, printer: Printer) -> tuple[ServedTool, ...]:
    return (
        _make(
            "draw",
            "Draw flows with their findings as a flowchart in the language of Mermaid.",
            (documents.DRAW, answers.DRAWING),
            partial(documents.draw, printer),
        ),
        _make(
            "bounds",
            "The steps, model turns, calls, tokens, dollars and milliseconds that a run uses at most and at least.",
            (documents.BOUNDS, answers.BOUNDS),
            partial(documents.bounds, printer),
        ),
        _make(
            "paths",
            "A small set of runs that covers each flow, or the shortest run to a node.",
            (documents.PATHS, answers.PATHS),
            partial(documents.paths, printer),
        ),
        _make(
            "permissions",
            "The tools that each node may call, and those of them that no test calls.",
            (documents.PERMISSIONS, answers.PERMISSIONS),
            partial(documents.permissions, printer),
        ),
        _make(
            "compare",
            "What has changed in the meaning of the flows since a revision of git, a plan or a copy in another folder.",
            (documents.COMPARE, answers.CHANGES),
            partial(documents.compare, project, printer),
        ),
    )


def _make(name: str, description: str, form: tuple[Sequence[Argument], Object], answer: Answer) -> ServedTool:
    """Return a tool; the form has its arguments, and the schema of its answer."""
    arguments, schema = form

    def answer_given(given: Object) -> Object:
        return answer(read_arguments(arguments, given))

    return ServedTool(name, description, write_schema(arguments), schema, answer_given)
