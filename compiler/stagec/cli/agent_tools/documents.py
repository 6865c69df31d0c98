"""Tools that answer with what a command prints: drawings, bounds, runs, permissions and comparisons.

A tool tells the few figures that matter. On request it tells all of the document that the command prints as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO, TextIOWrapper
from typing import Any

from stagec.cli.agent_tools.arguments import FLOW, Argument
from stagec.cli.agent_tools.open_project import OpenProject
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.words import quote

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
        """Return what a command prints, given words and the options that have a value."""
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
    """Return what has changed in the meaning of the flows since another version of the project."""
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
