"""Show the runs that cover flows: to people, as flow tests, and as JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from stagec.cli.streams import find_canvas
from stagec.core.terminal import Paint, Style
from stagec.core.value import value
from stagec.core.words import escape_ci_commands, format_count, visible
from stagec.flow_tests.coverage import KINDS
from stagec.flow_tests.paths.path_set import PathSet
from stagec.flow_tests.writing import write_flow_tests
from stagec.plan import Plan


@value
class FlowPaths:
    """A flow and the runs that cover it."""

    plan: Plan
    set: PathSet


def draw_text(flows: Sequence[FlowPaths]) -> str:
    """Return the runs for people."""
    canvas = find_canvas(sys.stdout, os.environ)
    paint = Paint(canvas.colour)
    lines = (line for each in flows for line in _list_lines(each))
    told = ((escape_ci_commands(visible(text, canvas.encoding)), style) for text, style in lines)
    return "".join(f"{paint(line, style)}\n" for line, style in told)


def _list_lines(flow: FlowPaths) -> Iterator[tuple[str, Style | None]]:
    counts = ((kind, *flow.set.coverage.count(kind)) for kind in KINDS)
    parts = [f"{run} of {format_count(known, kind)}" for kind, run, known in counts if known]
    yield f"{flow.plan.id}: {format_count(len(flow.set.paths), 'run')} with {', '.join(parts)}", Style.MESSAGE
    for number, each in enumerate(flow.set.paths, 1):
        begin = "" if each.test.scenario.get("entry") is None else f"from {each.test.scenario['entry']}: "
        yield f"  {number}  {begin}{' → '.join(each.found.path) or 'no node'}", None
        reason = "" if each.found.outcome == each.found.reason else f": {each.found.reason}"
        yield f"     {each.found.outcome}{reason}, {format_count(each.found.executions, 'execution')}", None
    for missing in flow.set.missing:
        yield f"  not covered: {missing.told}", Style.WARNING
        yield f"     {missing.why}", None


def draw_flow_tests(flows: Sequence[FlowPaths]) -> str:
    """Return a file of flow tests of one flow; nothing where no run was found."""
    (flow,) = flows
    notes = [f"not covered: {missing.told}: {missing.why}" for missing in flow.set.missing]
    return write_flow_tests(flow.plan.id, [path.test for path in flow.set.paths], notes) if flow.set.paths else ""


def draw_json(flows: Sequence[FlowPaths]) -> str:
    """Return the runs as the document that `schemas/paths.schema.json` describes."""
    document = {"version": 1, "flows": [_write_flow(each) for each in flows]}
    return (json.dumps(document, indent=2) + "\n").replace("##", "#\\u0023")  # build services obey `##[…]`


def _write_flow(flow: FlowPaths) -> Mapping[str, object]:
    counts = ((kind, *flow.set.coverage.count(kind)) for kind in KINDS)
    return {
        "flow": flow.plan.id,
        "percent": round(flow.set.coverage.percent, 1),
        **{f"{kind}s": {"run": run, "all": known} for kind, run, known in counts},
        "runs": [
            {
                "name": each.test.name,
                "outcome": each.found.outcome,
                "reason": each.found.reason,
                "path": list(each.found.path),
                "executions": each.found.executions,
                "turns": each.found.turns,
                "scenario": each.test.scenario,
            }
            for each in flow.set.paths
        ],
        "missing": [{"what": each.told, "why": each.why} for each in flow.set.missing],
    }


FORMATS: Mapping[str, Callable[[Sequence[FlowPaths]], str]] = {
    "text": draw_text,
    "flow-test": draw_flow_tests,
    "json": draw_json,
}
