"""What changes mean, for people at a terminal."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from stagec.cli.differences import describe_change
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import shorten
from stagec.comparison.classify import JudgedChange, JudgedFlow
from stagec.comparison.kind import Grade
from stagec.core.words import format_count


def draw_flows(sheet: Sheet, flows: Iterable[JudgedFlow], allowed: Container[str]) -> None:
    """Write each flow that has changed: what breaks its runs, and what does not."""
    for flow in flows:
        for grade in Grade:
            found = [each for each in flow.changes if each.kind.grade is grade]
            if found:
                sheet.heading(f"{shorten(flow.flow)}: {format_count(len(found), f'{grade} change')}")
                sheet.table(_list_rows(found, allowed, sheet.arrow))


def _list_rows(found: Iterable[JudgedChange], allowed: Container[str], arrow: str) -> Iterator[Row]:
    for each in found:
        told = describe_change(each.change, arrow)
        if each.kind.grade is Grade.BREAKING:
            told = f"{each.sentence}{' (allowed)' if each.kind.code in allowed else ''}"
        yield (each.kind.code, each.kind.name), (told,)
