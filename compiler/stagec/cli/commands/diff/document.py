"""Changes as one JSON document, as `schemas/diff.schema.json` describes it."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.cli.differences import dump_document, write_change
from stagec.cli.sides import ComparedSide
from stagec.comparison.flows import FlowChanges
from stagec.core.json import Json


def format_flows(before: ComparedSide, after: ComparedSide, flows: Iterable[FlowChanges]) -> str:
    """Return the document."""
    made: list[Json] = [_write_flow(each) for each in flows]
    return dump_document({"version": 1, "old": before.label, "new": after.label, "flows": made})


def _write_flow(given: FlowChanges) -> Json:
    action = given.action
    changes = given.changes if given.old is not None and given.new is not None else ()
    return {
        "flow": given.flow,
        "action": None if action is None else action.value,
        "changes": [write_change(each) for each in changes],
    }
