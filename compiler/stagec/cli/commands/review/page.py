"""A review for people at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.cli.commands.review.gather import Review, ReviewedFlow
from stagec.cli.differences import describe_change
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import shorten
from stagec.comparison.kind import Grade
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.words import format_count

_MOST = 20
"""Findings that are shown."""


def draw_review(sheet: Sheet, review: Review) -> None:
    """Write the verdict, what has changed in each flow, and the findings: new ones, and how many others there are."""
    sheet.heading(review.verdict)
    sheet.row("before", f"{review.old}, where it went off {review.branch}" if review.branch else review.old)
    sheet.row("now", review.new)
    for flow in review.changed:
        told = format_count(len(flow.changes), "change") if flow.changes else "changed"
        sheet.heading(f"{shorten(flow.id)}: {told if flow.action == 'changed' else f'flow {flow.action}'}")
        for label in flow.lacks:
            sheet.row("errors", f"the flow has errors in {label}: what its changes mean is not known")
        for each in flow.costs.moved:
            sheet.row("bounds", f"{f'{shorten(each.entry)}: ' if each.entry else ''}at most {each.describe()}")
        if flow.changes:
            sheet.table(_list_changes(flow, review.allowed, sheet.arrow))
    if review.fresh:
        sheet.heading(format_count(len(review.fresh), "new finding"))
        sheet.table(_list_findings(review.fresh))
    sheet.heading(f"{format_count(len(review.kept), 'finding')} as before, {len(review.gone)} gone")


def _list_changes(flow: ReviewedFlow, allowed: frozenset[str], arrow: str) -> Iterator[Row]:
    for each in flow.changes:
        is_breaking = each.kind.grade is Grade.BREAKING
        told = each.sentence if is_breaking else describe_change(each.change, arrow)
        accepted = " (allowed)" if each.kind.code in allowed else ""
        yield (each.kind.code, each.kind.grade.value), (f"{told}{accepted}",)


def _list_findings(found: Iterable[Diagnostic]) -> Iterator[Row]:
    known = tuple(found)
    for each in known[:_MOST]:
        at = f"{each.at.file}:{each.span.start.line}:{each.span.start.column}"
        yield (each.code, Severity(each.severity).value, at), (each.message,)
    if len(known) > _MOST:
        yield ("", "", ""), (f"and {len(known) - _MOST} more",)
