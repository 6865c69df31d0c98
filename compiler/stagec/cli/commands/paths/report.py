"""Show the runs that cover flows: to people, as flow tests, and as JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from stagec.cli.streams import find_canvas
from stagec.cli.tables import draw_lines
from stagec.core.terminal import Style
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.flow_tests.coverage import KINDS
from stagec.flow_tests.paths.path_set import PathSet
from stagec.flow_tests.writing import write_flow_tests
from stagec.plan import Plan


@value
class FlowPaths:
    """A flow and the runs that cover it."""

    plan: Plan
    set: PathSet

    def list_lines(self) -> Iterator[tuple[str, Style | None]]:
        """Yield the lines for people, each with its style."""
        counts = ((kind, *self.set.coverage.count(kind)) for kind in KINDS)
        parts = [f"{run} of {format_count(known, kind)}" for kind, run, known in counts if known]
        yield f"{self.plan.id}: {format_count(len(self.set.paths), 'run')} with {', '.join(parts)}", Style.MESSAGE
        for number, each in enumerate(self.set.paths, 1):
            begin = "" if each.test.scenario.get("entry") is None else f"from {each.test.scenario['entry']}: "
            yield f"  {number}  {begin}{' → '.join(each.found.path) or 'no node'}", None
            reason = "" if each.found.outcome == each.found.reason else f": {each.found.reason}"
            yield f"     {each.found.outcome}{reason}, {format_count(each.found.executions, 'execution')}", None
        for missing in self.set.missing:
            yield f"  not covered: {missing.told}", Style.WARNING
            yield f"     {missing.why}", None

    def to_json(self) -> Mapping[str, object]:
        """Return the flow as the document has it."""
        counts = ((kind, *self.set.coverage.count(kind)) for kind in KINDS)
        return {
            "flow": self.plan.id,
            "percent": round(self.set.coverage.percent, 1),
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
                for each in self.set.paths
            ],
            "missing": [{"what": each.told, "why": each.why} for each in self.set.missing],
        }


def draw_text(flows: Sequence[FlowPaths]) -> str:
    """Return the runs for people."""
    lines = (line for each in flows for line in each.list_lines())
    return draw_lines(find_canvas(sys.stdout, os.environ), lines)


def draw_flow_tests(flows: Sequence[FlowPaths]) -> str:
    """Return a file of flow tests of one flow; nothing where no run was found."""
    (flow,) = flows
    notes = [f"not covered: {missing.told}: {missing.why}" for missing in flow.set.missing]
    return write_flow_tests(flow.plan.id, [path.test for path in flow.set.paths], notes) if flow.set.paths else ""


def draw_json(flows: Sequence[FlowPaths]) -> str:
    """Return the runs as the document that `schemas/paths.schema.json` describes."""
    document = {"version": 1, "flows": [each.to_json() for each in flows]}
    return (json.dumps(document, indent=2) + "\n").replace("##", "#\\u0023")  # build services obey `##[…]`


FORMATS: Mapping[str, Callable[[Sequence[FlowPaths]], str]] = {
    "text": draw_text,
    "flow-test": draw_flow_tests,
    "json": draw_json,
}
