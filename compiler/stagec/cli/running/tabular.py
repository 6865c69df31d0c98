"""Rows whose cells line up, no wider than the paper."""

from __future__ import annotations

from collections.abc import Sequence

from stagec.core.canvas import Canvas
from stagec.core.columns import columns
from stagec.core.visible import ellipsis, visible

_WIDEST = 40
"""Columns of a cell that is not the last of its row."""
_NARROWEST = 12
"""Columns below which no cell is cut, whatever the paper."""
_BETWEEN = "  "


def table(paper: Canvas, rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines; columns without text are left out, and the widest are cut where a terminal is too narrow.

    Whatever the cells hold, nothing in them reaches the terminal unescaped.
    """
    shown = [[visible(cell, paper.encoding) for cell in row] for row in rows]
    kept = [index for index in range(len(rows[0]) if rows else 0) if any(row[index] for row in shown)]
    cells = [[row[index] for index in kept] for row in shown]
    if not kept:
        return ""
    widths = _widths([max(map(columns, column)) for column in zip(*cells, strict=True)], paper)
    lines = (
        _BETWEEN.join(_fitted(cell, width, paper) for cell, width in zip(row, widths, strict=True)) for row in cells
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _widths(wanted: list[int], paper: Canvas) -> list[int]:
    """Return how wide each column is: as wide as its widest cell, if there is room for all of them."""
    last = wanted[-1] if paper.width is None else min(wanted[-1], paper.width)
    widths = [*(min(each, _WIDEST) for each in wanted[:-1]), last]
    room = None if paper.width is None else paper.width - len(_BETWEEN) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _fitted(text: str, width: int, paper: Canvas) -> str:
    """Return a text in so many columns, without its end when it takes more."""
    if columns(text) > width:
        left_out = ellipsis(paper.encoding)
        while columns(text) > width - len(left_out):
            text = text[: -max(1, (columns(text) - width) // 2)]
        text += left_out
    return text + " " * (width - columns(text))
