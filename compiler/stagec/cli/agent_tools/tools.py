"""The tools of `stagec mcp`, each with its arguments and its answer."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from stagec.check.pipeline import Compilation, list_families
from stagec.cli.agent_tools import arguments as answers
from stagec.cli.agent_tools.arguments import FLOW, LIMIT, OFFSET, TEXTS, Argument, cut, read_arguments, write_schema
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
    """Return the flows of a project in a summary or in detail."""
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
    """Return all facts about a node: also its predecessors, its members, its reads and its tools."""
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
            (DRAW, answers.DRAWING),
            partial(draw, printer),
        ),
        _make(
            "bounds",
            "The steps, model turns, calls, tokens, dollars and milliseconds that a run uses at most and at least.",
            (BOUNDS, answers.BOUNDS),
            partial(bounds, printer),
        ),
        _make(
            "paths",
            "A small set of runs that covers each flow, or the shortest run to a node.",
            (PATHS, answers.PATHS),
            partial(paths, printer),
        ),
        _make(
            "permissions",
            "The tools that each node may call, and those of them that no test calls.",
            (PERMISSIONS, answers.PERMISSIONS),
            partial(permissions, printer),
        ),
        _make(
            "compare",
            "What has changed in the meaning of the flows since a revision of git, a plan or a copy in another folder.",
            (COMPARE, answers.CHANGES),
            partial(compare, project, printer),
        ),
    )


def _make(name: str, description: str, form: tuple[Sequence[Argument], Object], answer: Answer) -> ServedTool:
    """Return a tool; the form has its arguments, and the schema of its answer."""
    arguments, schema = form

    def answer_given(given: Object) -> Object:
        return answer(read_arguments(arguments, given))

    return ServedTool(name, description, write_schema(arguments), schema, answer_given)


_ALL = Argument("details", "boolean", "Also tell the whole document that the command prints as JSON.")
DRAW = (
    FLOW,
    Argument("focus", "string", "Draw only the nodes near this node."),
    Argument("depth", "integer", "How far from `focus`, in lines.", 2),
    Argument("collapse", "string", "Draw each cycle, or each phase, as one box.", choices=("cycle", "phase")),
)
BOUNDS = (FLOW, _ALL)
PATHS = (FLOW, Argument("to", "string", "Only the shortest run to this node."), _ALL)
PERMISSIONS = (FLOW, _ALL)
COMPARE = (
    Argument(
        "old",
        "string",
        "What the project is compared with: a revision of git, such as HEAD, or a plan or a folder of the project.",
        is_required=True,
    ),
    FLOW,
    _ALL,
)

Invoke = Callable[[list[str]], int]
"""Runs a command line in this process and returns its exit status; a `Failure` leaves it."""


class Printer:
    """Commands of stagec, which print to nobody."""

    def __init__(self, invoke: Invoke) -> None:
        self._invoke = invoke

    def print(self, *words: str, **options: Any) -> str:
        """Return the output of a command, given words and the options that have a value."""
        given = [f"--{name}={each}" for name, each in options.items() if each is not None]
        printed = BytesIO()
        kept, sys.stdout = sys.stdout, TextIOWrapper(printed, encoding="utf-8", write_through=True)
        try:
            self._invoke([words[0], *given, *(("--", *words[1:]) if words[1:] else ())])
            return printed.getvalue().decode()
        finally:
            sys.stdout = kept

    def read(self, *words: str, **options: Any) -> Any:
        """Return the document that a command prints."""
        return json.loads(self.print(*words, format="json", **options))


def draw(printer: Printer, given: Mapping[str, Any]) -> Object:
    """Return a drawing in the language of Mermaid."""
    options = {name: given[name] for name in ("flow", "focus", "collapse")}
    depth = given["depth"] if given["focus"] is not None else None
    return {"mermaid": printer.print("graph", format="mermaid", depth=depth, **options)}


def bounds(printer: Printer, given: Mapping[str, Any]) -> Object:
    """Return how much the runs of each flow take at most, and what nothing limits."""
    document = printer.read("bounds", flow=given["flow"])
    flows = [_sum_up_bounds(each) for each in document["flows"]]
    return {"flows": flows, "document": document if given["details"] else None}


_FIGURES = ("executions", "turns", "requests", "calls", "inputTokens", "outputTokens", "dollars", "milliseconds")


def _sum_up_bounds(flow: Mapping[str, Any]) -> Json:
    entries = [
        {
            "entry": each["entry"],
            "most": {name: each[name]["most"] for name in _FIGURES},
            "least": {name: each[name]["least"] for name in _FIGURES},
            "cycles": each["cycles"],
        }
        for each in flow.get("entries", ())
    ]
    reason = flow.get("reason")
    return {"flow": flow["flow"], "bounded": flow["bounded"], "entries": entries, "no_plan_because": reason}


def paths(printer: Printer, given: Mapping[str, Any]) -> Object:
    """Return a small set of runs that covers each flow, or the shortest run to a node."""
    document = printer.read("paths", flow=given["flow"], to=given["to"])
    flows = [
        {
            "flow": each["flow"],
            "percent": each["percent"],
            "runs": [{"path": one["path"], "outcome": one["outcome"]} for one in each["runs"]],
            "missing": each["missing"],
        }
        for each in document["flows"]
    ]
    return {"flows": flows, "document": document if given["details"] else None}


def permissions(printer: Printer, given: Mapping[str, Any]) -> Object:
    """Return the tools that each node may call, and which of them its tests never call."""
    document = printer.read("permissions", flow=given["flow"])
    flows = [
        {
            "flow": flow["flow"],
            "nodes": [
                {
                    "node": each["node"],
                    "mode": each["mode"],
                    "limited": each["limited"],
                    "tools": [tool["name"] for tool in each["tools"]],
                    "unused_in_tests": each["surplus"],
                }
                for each in flow["nodes"]
            ],
        }
        for flow in document["flows"]
    ]
    return {"flows": flows, "document": document if given["details"] else None}


def compare(project: OpenProject, printer: Printer, given: Mapping[str, Any]) -> Object:
    """Return the changes in the meaning of the flows since another version of the project."""
    old = given["old"]
    if os.path.lexists(os.path.join(project.root, old)):
        old = os.path.join(project.root, project.name(old))
    elif ":" in old:
        raise Failure(f"{quote(old)} may lie outside the project: name a revision without a path")
    document = printer.read("diff", old, ".", flow=given["flow"])
    flows = [
        {
            "flow": each["flow"],
            "action": each["action"],
            "changes": list(_sum_up_changes(each["changes"])),
        }
        for each in document["flows"]
    ]
    return {"flows": flows, "document": document if given["details"] else None}


def _sum_up_changes(changes: list[Mapping[str, Any]]) -> Iterator[Json]:
    for each in changes:
        yield {name: each[name] for name in ("action", "topic", "node", "name")}
