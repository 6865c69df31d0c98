"""Bounds as one JSON document, as `schemas/bounds.schema.json` describes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.value import value
from stagec.frontends import Flow
from stagec.graph.bounds import Bounds, EntryBounds, Repetition, UpperBound
from stagec.graph.expense import Assumed
from stagec.graph.longest import Joint, Way
from stagec.graph.schedule_bounds import ScheduleBounds
from stagec.plan import Plan


@value
class BoundedFlow:
    """A plan, where it is from, and its bounds; `name_file` names its file where the reader stands."""

    plan: Plan
    digest: str
    file: str
    bounds: Bounds
    assumed: Assumed
    name_file: Callable[[str], str] = str

    @property
    def flow(self) -> str:
        """The id of the flow."""
        return self.plan.id


@value
class UnboundedFlow:
    """A flow that has no plan, and why; `name_file` names files where the reader stands."""

    flow: Flow
    reason: str
    errors: tuple[Diagnostic, ...]
    name_file: Callable[[str], str] = str


def format_flows(flows: Iterable[BoundedFlow | UnboundedFlow]) -> str:
    """Return the document."""
    made = [_write_flow(each) if isinstance(each, BoundedFlow) else _write_refusal(each) for each in flows]
    text = json.dumps({"version": 1, "flows": made}, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it


def _write_flow(each: BoundedFlow) -> Json:
    plan, assumed = each.plan, each.assumed
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
        "assumed": {"turnMilliseconds": assumed.turn, "validatorMilliseconds": assumed.validator},
        "entries": [_write_entry(entry) for entry in each.bounds.entries],
        "repetitions": [_write_repetition(entry) for entry in each.bounds.repetitions],
    }


def _write_entry(given: EntryBounds) -> Json:
    return {
        "entry": given.entry,
        "node": given.node,
        "executions": _write_bound(given.executions),
        "turns": _write_bound(given.turns),
        "milliseconds": _write_bound(given.time),
        "limitedMilliseconds": _write_bound(given.milliseconds),
        "unlimited": [{"what": each.kind, "nodes": list(each.nodes)} for each in given.unlimited],
        "cycles": [list(each) for each in given.cycles],
        "cutByLimit": given.is_cut,
        "longest": _write_way(given.longest),
        "slowest": _write_way(given.slowest),
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


def _write_bound(given: UpperBound) -> Json:
    return {"withoutRetries": given.first, "most": given.most}


def _write_way(way: Way) -> Json:
    """Return the nodes of a way in order; those that run together stand one after the other."""
    return [part for part in way if not isinstance(part, Joint)]


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
        "flow": given.flow.id,
        "file": given.flow.at.file,
        "bounded": False,
        "reason": given.reason,
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
