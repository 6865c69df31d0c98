"""Bounds as one JSON document, as `schemas/bounds.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stagec.cli.commands.bounds.measured import BoundedFlow, UnboundedFlow, write_basis
from stagec.cli.figures import NAMES_IN_JSON, format_dollars, write_way
from stagec.core.json import Json
from stagec.graph.bounds import Repetition
from stagec.graph.figures import EntryBounds, Figure, UpperBound
from stagec.graph.schedule_bounds import ScheduleBounds
from stagec.graph.usage import Quantity


def format_flows(flows: Iterable[BoundedFlow | UnboundedFlow]) -> str:
    """Return the document."""
    made = [_write_flow(each) if isinstance(each, BoundedFlow) else _write_refusal(each) for each in flows]
    text = json.dumps({"version": 1, "flows": made}, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it


def _write_flow(each: BoundedFlow) -> Json:
    plan = each.plan
    return {
        "flow": plan.id,
        "file": each.file,
        "digest": each.digest,
        "bounded": each.bounds.is_bounded,
        "limits": {
            "executions": plan.limits.executions,
            "reached": plan.limits.reached,
            "parallel": plan.limits.parallel,
        },
        "assumed": write_basis(each),
        "entries": [_write_entry(entry) for entry in each.bounds.entries],
        "repetitions": [_write_repetition(entry) for entry in each.bounds.repetitions],
    }


def _write_entry(given: EntryBounds) -> Json:
    return {
        "entry": given.entry,
        "node": given.node,
        "executions": _write_bound(given, Quantity.EXECUTIONS),
        "turns": _write_bound(given, Quantity.TURNS),
        "requests": _write_bound(given, Quantity.REQUESTS),
        "calls": _write_bound(given, Quantity.CALLS),
        "inputTokens": _write_bound(given, Quantity.INPUT),
        "outputTokens": _write_bound(given, Quantity.OUTPUT),
        "dollars": _write_money(given.figures[Quantity.COST]),
        "milliseconds": {**_write_bound(given, Quantity.MILLISECONDS), **_write_upper(given.time)},
        "limitedMilliseconds": _write_bound(given, Quantity.MILLISECONDS),
        "unlimited": _write_lacks(given.figures[Quantity.MILLISECONDS]),
        "cycles": [list(each) for each in given.cycles],
        "cutByLimit": given.is_cut,
        "lacking": {NAMES_IN_JSON[name]: _write_lacks(each) for name, each in given.figures.items() if each.lacks},
        "longest": write_way(given.longest),
        "slowest": write_way(given.slowest),
        "paths": {
            NAMES_IN_JSON[name]: {"most": write_way(each.longest), "least": write_way(each.shortest)}
            for name, each in given.figures.items()
        },
        "schedule": None if given.schedule is None else _write_schedule(given.schedule),
    }


def _write_schedule(given: ScheduleBounds) -> Json:
    return {
        "nodes": given.nodes,
        "attempts": given.attempts,
        "plannedMilliseconds": given.planned,
        "criticalPath": list(given.critical),
        "width": {"nodes": list(given.width), "exact": given.is_width_exact},
        "gap": {"nodes": list(given.gap), "milliseconds": given.gap_milliseconds},
        "failures": [
            {"node": each.node, "nodes": each.nodes, "milliseconds": each.milliseconds} for each in given.failures
        ],
    }


def _write_bound(entry: EntryBounds, measure: Quantity) -> dict[str, Json]:
    figure = entry.figures[measure]
    return {"least": figure.least, **_write_upper(figure.upper)}


def _write_upper(given: UpperBound) -> dict[str, Json]:
    return {"withoutRetries": given.first, "most": given.most}


def _write_money(figure: Figure) -> Json:
    """Return US dollars as decimal texts, exact to a billionth."""
    unknown = any(each.kind in {"model-name", "price"} for each in figure.lacks)
    amounts = {"least": None if unknown else figure.least, **_write_upper(figure.upper)}
    return {name: None if each is None else format_dollars(int(str(each))) for name, each in amounts.items()}


def _write_lacks(figure: Figure) -> list[Json]:
    return [{"what": each.kind, "nodes": list(each.nodes)} for each in figure.lacks]


def _write_repetition(given: Repetition) -> Json:
    return {
        "node": given.node,
        "attempts": given.attempts,
        "waitMilliseconds": given.wait,
        "validators": given.validations,
        "validations": given.validated,
        "onFailure": given.action,
    }


def _write_refusal(given: UnboundedFlow) -> Json:
    return {
        "flow": given.refused.flow.id,
        "file": given.refused.flow.at.file,
        "bounded": False,
        "reason": given.refused.reason,
        "errors": [
            {
                "code": each.code,
                "file": each.at.file,
                "line": each.span.start.line,
                "column": each.span.start.column,
                "message": each.message,
            }
            for each in given.errors
        ],
    }
