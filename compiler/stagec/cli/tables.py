"""Lines in styles, and rows whose cells line up, no wider than the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagec.core.terminal import Canvas, Paint, Style, columns
from stagec.core.words import ellipsis, escape_ci_commands, visible

_WIDEST = 40
"""Columns of a cell that is not the last of its row."""
_NARROWEST = 12
"""Columns below which no cell is cut, whatever the paper."""
_BETWEEN = "  "
_INSIDE = "    "
"""What stands before the second line of a row."""


def draw_lines(paper: Canvas, lines: Iterable[tuple[str, Style | None]]) -> str:
    """Return lines in their styles; whatever they hold, nothing in them reaches the terminal unescaped."""
    paint = Paint(paper.colour)
    return "".join(f"{paint(escape_ci_commands(visible(text, paper.encoding)), style)}\n" for text, style in lines)


def draw_columns(paper: Canvas, rows: Sequence[Sequence[str]], whole: int = 0) -> str:
    """Return rows as lines; columns without text are left out, and the widest are cut where a terminal is too narrow.

    The first `whole` of the columns with text are never cut.
    Where it is too narrow even so, each row goes on in a line below.
    Whatever the cells hold, nothing in them reaches the terminal unescaped.
    """
    shown = [[escape_ci_commands(visible(cell, paper.encoding)) for cell in row] for row in rows]
    kept = [index for index in range(len(rows[0]) if rows else 0) if any(row[index] for row in shown)]
    cells = [[row[index] for index in kept] for row in shown]
    if not kept:
        return ""
    wanted = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    widths = wanted[:whole] + _choose_widths(wanted[whole:], paper, sum(wanted[:whole]) + len(_BETWEEN) * whole)
    # which columns stand in which line of a row: all in one, if there is room
    starts, used = [0], 0
    for index, width in enumerate(widths):
        if paper.width is not None and index > starts[-1] and used + width > paper.width:
            starts.append(index)
            used = len(_INSIDE)
        used += width + len(_BETWEEN)
    parts = [slice(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]
    if paper.width is not None and len(parts) > 1:  # below there may be room again for the last cell
        before = len(_INSIDE) + sum(width + len(_BETWEEN) for width in widths[parts[-1]][:-1])
        widths[-1] = max(widths[-1], min(wanted[-1], paper.width - before))
    lines = (_draw_line(row, widths, part, paper) for row in cells for part in parts)
    return "".join(f"{line}\n" for line in lines if line)


def _draw_line(row: list[str], widths: list[int], part: slice, paper: Canvas) -> str:
    """Return one line of a row, nothing where it would be blank."""
    cells = (_fit(cell, width, paper) for cell, width in zip(row[part], widths[part], strict=True))
    line = _BETWEEN.join(cells).rstrip()
    return f"{_INSIDE if part.start and line else ''}{line}"


def _choose_widths(wanted: list[int], paper: Canvas, taken: int) -> list[int]:
    """Return how wide each column is: as wide as its widest cell, if there is room for all of them beside others."""
    if not wanted:
        return []
    last = wanted[-1] if paper.width is None else min(wanted[-1], paper.width)
    widths = [*(min(each, _WIDEST) for each in wanted[:-1]), last]
    room = None if paper.width is None else paper.width - taken - len(_BETWEEN) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _fit(text: str, width: int, paper: Canvas) -> str:
    """Return a text in so many columns, without its end when it takes more."""
    if columns(text) > width:
        left_out = ellipsis(paper.encoding)
        while columns(text) > width - len(left_out):
            text = text[: -max(1, (columns(text) - width) // 2)]
        text += left_out
    return text + " " * (width - columns(text))
