"""Changes for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.cli.differences import SIGNS, describe_change
from stagec.cli.figures import Moved
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import shorten
from stagec.comparison.flows import FlowChanges
from stagec.core.words import format_count


def draw_flows(sheet: Sheet, flows: Iterable[FlowChanges], figures: Iterable[Moved]) -> None:
    """Write each flow that has changed, with what has, and what its runs take more or less of."""
    for each, moved in zip(flows, figures, strict=True):
        if each.action is None:
            continue
        if each.old is None or each.new is None:
            sheet.heading(f"{shorten(each.flow)}: flow {each.action}")
            continue
        sheet.heading(f"{shorten(each.flow)}: {format_count(len(each.changes), 'change')}")
        rows: list[Row] = [
            (
                (SIGNS[one.action], one.part.value),
                (describe_change(one, sheet.arrow), *(f"  {line}" for line in one.lines)),
            )
            for one in each.changes
        ]
        told = tuple(one.describe(sheet.arrow) for one in moved)
        sheet.table((*rows, *([(("", "runs"), told)] if told else [])))
