"""A review as one JSON document, as `schemas/review.schema.json` describes it."""

from __future__ import annotations

from stagec.cli.commands.review.gather import Review, ReviewedFlow
from stagec.cli.differences import dump_document, write_judged
from stagec.cli.figures import NAMES_IN_JSON
from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.graph.usage import Quantity


def format_review(review: Review) -> str:
    """Return the document."""
    return dump_document(
        {
            "version": 1,
            "against": review.old,
            "branch": review.branch or None,
            "path": review.new,
            "verdict": review.verdict,
            "breaking": review.breaking,
            "newErrors": review.errors,
            "stuck": review.stuck,
            "flows": [_write_flow(each, review) for each in review.flows],
            "findings": {
                "new": [_write_finding(each) for each in review.fresh],
                "gone": [_write_finding(each) for each in review.gone],
                "kept": [_write_finding(each) for each in review.kept],
            },
        }
    )


def _write_flow(flow: ReviewedFlow, review: Review) -> Json:
    return {
        "flow": flow.id,
        "action": None if flow.action is None else flow.action.value,
        "withoutPlan": list(flow.lacks),
        "changes": [write_judged(each, review.allowed) for each in flow.changes],
        "bounds": [
            {"entry": each.entry, "measure": _MEASURES[each.measure], "before": each.before, "after": each.after}
            for each in flow.costs.moved
        ],
    }


_MEASURES = {**NAMES_IN_JSON, Quantity.EXECUTIONS: "steps", Quantity.COST: "cost", Quantity.MILLISECONDS: "time"}


def _write_finding(given: Diagnostic) -> Json:
    return {
        "code": given.code,
        "name": given.name,
        "severity": given.severity.value,
        "message": given.message,
        "file": given.at.file,
        "line": given.span.start.line,
        "column": given.span.start.column,
    }
