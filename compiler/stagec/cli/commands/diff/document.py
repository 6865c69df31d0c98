"""Changes as one JSON document, as `schemas/diff.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.cli.differences import dump_document, write_change
from stagec.cli.figures import NAMES_IN_JSON, Moved, MovedFigure, format_dollars
from stagec.cli.sides import ComparedSide
from stagec.comparison.flows import FlowChanges
from stagec.core.json import Json
from stagec.graph.usage import Quantity


def format_flows(
    before: ComparedSide, after: ComparedSide, flows: Iterable[FlowChanges], figures: Iterable[Moved]
) -> str:
    """Return the document."""
    made: list[Json] = [_write_flow(each, moved) for each, moved in zip(flows, figures, strict=True)]
    return dump_document({"version": 1, "old": before.label, "new": after.label, "flows": made})


def _write_flow(given: FlowChanges, moved: Moved) -> Json:
    action = given.action
    changes = given.changes if given.old is not None and given.new is not None else ()
    return {
        "flow": given.flow,
        "action": None if action is None else action.value,
        "changes": [write_change(each) for each in changes],
        "figures": [_write_figure(each) for each in moved],
    }


def _write_figure(given: MovedFigure) -> Json:
    is_money = given.measure is Quantity.COST
    told = [None if each is None else format_dollars(each) if is_money else each for each in given.amounts]
    return {
        "entry": given.entry,
        "figure": NAMES_IN_JSON[given.measure],
        "case": given.case.removesuffix(" case"),
        "before": told[0],
        "after": told[1],
    }
