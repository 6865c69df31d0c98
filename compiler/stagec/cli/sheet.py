"""A page for a terminal: headings, rows and tables that fit its width, and texts behind a bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from stagec.cli.wording import format_path
from stagec.core.terminal import Canvas, Paint, Style, columns, wrap
from stagec.core.words import ellipsis, escape_ci_commands, visible
from stagec.ir.plan.act import Choice, Each, Hole, Piece, Template, Text

_TABLES_WIDEST = 40
"""Columns of a cell that is not the last of its row."""
_TABLES_NARROWEST = 12
"""Columns below which no cell is cut, whatever the paper."""
_BETWEEN = "  "
_INSIDE = "    "
"""The text before the second line of a row."""


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
    widths = [*(min(each, _TABLES_WIDEST) for each in wanted[:-1]), last]
    room = None if paper.width is None else paper.width - taken - len(_BETWEEN) * (len(widths) - 1)
    while room is not None and sum(widths) > room and max(widths) > _TABLES_NARROWEST:
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


_LABEL = 9
"""Columns of the names of rows: a digest fits beside them on 80."""
_SHEET_WIDEST = 40
"""Columns of a cell; names may have any length."""
_TAB = " " * 4
_HANGING = "  "
"""The text before the rest of a broken text, to tell it from the next one."""
_SHEET_NARROWEST = 24
"""Columns in which a text is broken at least."""
_BESIDE = 40
"""Columns without which what stands behind the cells of a table and is longer goes below them."""
_BELOW = " " * 6
_BAR = "  | "
Row = tuple[tuple[str, ...], tuple[str, ...]]
"""The cells of a row of a table, and what stands behind them, line by line."""
Run = tuple[str, Style | None]
"""A piece of a text, and the style that sets it apart."""


class Sheet:
    """Collects lines. Whatever it is given may hold text of anybody: nothing in it reaches the terminal unescaped."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._paint = Paint(canvas.colour)
        self._lines: list[str] = []
        self.arrow = "→" if visible("→", canvas.encoding) == "→" else "->"

    def text(self) -> str:
        """Return the page."""
        return "".join(f"{line.rstrip(' ')}\n" for line in self._lines)

    def heading(self, text: str) -> None:
        """Begin a part of the page."""
        if self._lines:
            self._lines.append("")
        self._lines.append(self._paint(self._visible(text), Style.MESSAGE))

    def line(self, text: str, style: Style | None = None) -> None:
        """Add a line that is never broken."""
        self._lines.append(self._paint(escape_ci_commands(visible(text, self._canvas.encoding)), style))

    def row(self, label: str, *texts: str) -> None:
        """Add a named row of one or more lines; without any it is left out."""
        for index, text in enumerate(texts):
            lead = self._paint(f"{label:<{_LABEL}}", Style.GUTTER) if index == 0 else " " * _LABEL
            self._add(lead, _LABEL, text)

    def table(self, rows: Iterable[Row]) -> None:
        """Add rows whose cells line up; an empty column is left out."""
        shown = [([self._cell(cell) for cell in cells], behind) for cells, behind in rows]
        widths = [max(map(columns, column)) for column in zip(*(cells for cells, _ in shown), strict=True)]
        taken = 2 + sum(width + 2 for width in widths if width)
        is_beside = self._fits(taken, [text for _, behind in shown for text in behind])
        for cells, behind in shown:
            pairs = zip(cells, widths, strict=True)
            padded = (f"{cell}{' ' * (width - columns(cell))}  " for cell, width in pairs if width)
            leads = [f"  {''.join(padded)}"]
            if not is_beside:
                self._lines.append(leads.pop())
            blanks = " " * taken if is_beside else _BELOW
            for text in behind or ("",) * is_beside:
                self._add(leads.pop() if leads else blanks, len(blanks), text)

    def add_quotation(self, runs: Iterable[Run]) -> None:
        """Add a text line by line, each behind a bar; what does not fit beside it goes on below, without one."""
        width = self._canvas.width
        # the pieces of each line of a text; a line feed at its end begins none
        lines: list[list[Run]] = [[]]
        for text, style in runs:
            first, *others = text.split("\n")
            lines[-1].append((first, style))
            lines.extend([(other, style)] for other in others)
        for line in lines[:-1] if len(lines) > 1 and lines[-1] == [("", None)] else lines:
            shown = [(visible(text.replace("\t", _TAB), self._canvas.encoding), style) for text, style in line]
            whole = "".join(text for text, _ in shown)
            room = len(whole) if width is None else max(_SHEET_NARROWEST, width - len(_BAR))
            lead = self._paint(_BAR, Style.GUTTER)
            for begin, end in _break_line(whole, room):
                at, painted = 0, lead
                for text, style in shown:
                    painted += self._paint(text[max(0, begin - at) : max(0, end - at)], style)
                    at += len(text)
                self._lines.append(painted)
                lead = " " * (len(_BAR) + _measure_indent(whole))

    def _fits(self, taken: int, texts: Sequence[str]) -> bool:
        """Tell whether texts have room beside so many columns."""
        room = None if self._canvas.width is None else self._canvas.width - taken
        return room is None or room >= _BESIDE or all(columns(self._visible(text)) <= room for text in texts)

    def _add(self, lead: str, taken: int, text: str) -> None:
        """Add a text beside its lead, broken to the width of the terminal."""
        shown = self._visible(text)
        width = self._canvas.width
        room = None if width is None else max(_SHEET_NARROWEST, width - taken - len(_HANGING))
        first, *others = [shown] if room is None else wrap(shown, room, -len(_HANGING))
        self._lines.append(lead + first)
        self._lines.extend(" " * taken + _HANGING + line for line in others)

    def _cell(self, text: str) -> str:
        """Return a text as it can be shown in a column."""
        shown = self._visible(text[: _SHEET_WIDEST + 1])
        if columns(shown) <= _SHEET_WIDEST:
            return shown
        sign = ellipsis(self._canvas.encoding)
        while columns(shown) > _SHEET_WIDEST - len(sign):
            shown = shown[:-1]
        return shown + sign

    def _visible(self, text: str) -> str:
        shown = visible(text, self._canvas.encoding)
        is_command = shown.lstrip().startswith("::")  # build services obey it at the start of a line
        return shown.replace(":", r"\x3a", 1) if is_command else shown


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _break_line(line: str, room: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of each part of a line that fits into so many columns; long words stay whole."""
    begin, gap, used = 0, 0, _measure_indent(line)
    for at in range(used, len(line)):
        used += columns(line[at])
        if line[at] == " " and not line.startswith("::", at + 1):  # build services obey `::` at the start of a line
            gap = at
        if used > room and gap > begin:
            yield begin, gap
            begin = gap + 1
            used = columns(line[begin : at + 1])
    yield begin, len(line)


def split_runs(template: Template, contents: Mapping[str, str]) -> Iterator[Run]:
    """Yield a template piece by piece: `{{path}}`, `{{#each path}}…{{/each}}`, `{{#if path}}…{{else}}…{{/if}}`."""
    todo: list[Piece | str] = [*reversed(template)]
    while todo:  # no recursion: templates may be nested to any depth
        piece = todo.pop()
        match piece:
            case str():
                yield piece, Style.HOLE
            case Text():
                yield contents[piece.content], None
            case Hole():
                yield f"{{{{{format_path(piece.path)}}}}}", Style.HOLE
            case Each():
                todo += reversed([f"{{{{#each {format_path(piece.path)}}}}}", *piece.body, "{{/each}}"])
            case Choice():
                other = ["{{else}}", *piece.otherwise] if piece.otherwise else []
                todo += reversed([f"{{{{#if {format_path(piece.path)}}}}}", *piece.then, *other, "{{/if}}"])
            case _:
                assert_never(piece)


def join_runs(template: Template, contents: Mapping[str, str]) -> str:
    """Return a template as one text."""
    return "".join(text for text, _ in split_runs(template, contents))
