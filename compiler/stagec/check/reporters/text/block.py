"""One diagnostic as a block of lines: its message, the source lines, the explanations and the fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stagec.check.reporters import Canvas, Diagnostic, Report, format_count
from stagec.core.diagnostic import Remark
from stagec.core.place import Place, Span
from stagec.core.terminal import Paint, Style, columns, wrap
from stagec.core.value import value
from stagec.core.words import ellipsis, visible, visible_characters

_NEAR = 6
"""A related place at most so many lines away is shown in the same frame."""
_OPTIONS = {True: "--fix does it", False: "--fix --unsafe-fixes does it"}
"""The option that applies a fix, by whether it is safe."""


class Blocks:
    """Draws diagnostics about the files of one project; remembers the lines of files and which rules it named."""

    def __init__(self, report: Report) -> None:
        self._trees = report.trees
        self._canvas = report.canvas
        self._name_file = report.name_file
        self._paint = Paint(report.canvas.colour)
        self._lines: dict[str, SourceLines | None] = {
            file: SourceLines(lines) for file, lines in report.excerpts.items()
        }
        self._explained = {*report.explained}

    def draw(self, each: Diagnostic) -> str:
        """Return the block of a diagnostic, without a line feed at its end."""
        near = [also for also in each.related if _is_near(also, each)]
        far = [also for also in each.related if not _is_near(also, each)]
        gutter = len(str(max(span.start.line for span in (each.span, *(also.span for also in each.related)))))
        rows = [self._head(each), *self._frame("-->", each.at, self._marks(each, near), gutter)]
        for also in far:
            rows += self._frame(":::", also.at, [self._mark(also)], gutter)
        rows += self._notes(each, " " * (gutter + 1))
        return "\n".join(rows)

    def _head(self, each: Diagnostic) -> str:
        style = Style.of(each.severity)
        label = f"{each.severity}[{each.code}]"
        head = f"{self._paint(label, style)} {self._paint(each.name, style)}: "
        lines = self._wrap(each.message, taken=len(label) + len(each.name) + 3, indent="    ")
        return head + "\n".join(self._paint(line, Style.MESSAGE) for line in lines)

    def _frame(self, arrow: str, at: Place, marks: list[Underline], gutter: int) -> Iterator[str]:
        start = marks[0].span.start
        lines = self._source(at.file)
        where = f"{self._visible(self._name_file(at.file))}:{start.line}:{start.column}"
        label = f": {marks[0].label}" if marks[0].label and not lines else ""
        yield f"{' ' * gutter}{self._paint(arrow, Style.GUTTER)} {where}{label}"
        if lines:
            yield from SourceFrame(lines, self._canvas, gutter).draw(marks)

    def _marks(self, each: Diagnostic, near: Iterable[Remark]) -> list[Underline]:
        return [Underline(each.span, "^", Style.of(each.severity)), *(self._mark(also) for also in near)]

    def _mark(self, also: Remark) -> Underline:
        return Underline(also.span, "-", Style.GUTTER, self._visible(also.message))

    def _notes(self, each: Diagnostic, indent: str) -> Iterator[str]:
        if each.fix:
            yield from self._note("fix", f"{each.fix.message} ({_OPTIONS[each.fix.is_safe]})", indent)
        if each.folded:
            yield from self._note("folded", f"{format_count(each.folded, 'follow-on finding')} not shown", indent)
        if each.code not in self._explained:  # once is enough where one mistake was made a hundred times
            self._explained.add(each.code)
            yield from self._note("help", " or ".join(each.pages()), indent)

    def _note(self, word: str, text: str, indent: str) -> Iterator[str]:
        lead = f"{indent}= {word}: "
        lines = self._wrap(text, taken=columns(lead), indent=" " * len(lead))
        yield f"{indent}{self._paint('=', Style.GUTTER)} {self._paint(f'{word}:', Style.MESSAGE)} {lines[0]}"
        yield from lines[1:]

    def _wrap(self, text: str, *, taken: int, indent: str) -> list[str]:
        shown = self._visible(text)
        if self._canvas.width is None:
            return [shown]
        room = self._canvas.width - len(indent)
        first, *others = wrap(shown, room, taken - len(indent))
        return [first, *(indent + line for line in others)]

    def _source(self, file: str) -> SourceLines | None:
        if file not in self._lines:
            tree = self._trees.get(file)
            self._lines[file] = SourceLines.of(tree.data) if tree and tree.data else None
        return self._lines[file]

    def _visible(self, text: str) -> str:
        return visible(text, self._canvas.encoding)


def _is_near(also: Remark, each: Diagnostic) -> bool:
    return also.at.file == each.at.file and abs(also.span.start.line - each.span.start.line) <= _NEAR


_TAB = 4


@value
class Cut:
    """The shown part of a source line, with the start and the width of the marked part, in columns."""

    text: str
    offset: int
    width: int


def cut(line: str, marked: tuple[int, int], room: int, encoding: str) -> Cut:
    """Return the part of a line around its marked characters that fits into `room` columns.

    `marked` counts characters of the line from zero, end exclusive. Takes time for what is shown, not for the line.
    """
    start, end = min(marked[0], len(line)), min(marked[1], len(line))
    low, high = max(0, start - room), min(len(line), start + room)
    part = line[low:high]
    cells = list(part) if _is_plain(part) else _make_cells(part, encoding)
    widths = [1] * len(cells) if _is_plain(part) else [columns(cell) for cell in cells]
    sign = ellipsis(encoding)
    fits = high - low == len(line) and sum(widths) <= room
    signs = 2 * len(sign)
    first, last = (0, len(widths)) if fits else _choose_window(widths, (start - low, end - low), room - signs)
    before = sign if low or first else ""
    after = sign if last < len(cells) or high < len(line) else ""
    text = before + "".join(cells[first:last]) + after
    offset = len(before) + sum(widths[first : start - low])
    return Cut(text, offset, max(1, sum(widths[start - low : min(end - low, last)])))


def _choose_window(widths: Sequence[int], marked: tuple[int, int], room: int) -> tuple[int, int]:
    """Choose which cells to show: from the first if the mark fits, else some before it, and as many as fit behind."""
    start, end = marked
    lead = room if sum(widths[:end]) <= room else room // 3
    if widths.count(1) == len(widths):  # nothing wide or combining: counting cell by cell would only take longer
        first = max(0, start - max(0, lead))
        return first, min(len(widths), first + max(0, room))
    first = start
    while first and (lead := lead - widths[first - 1]) >= 0:
        first -= 1
    last = first
    while last < len(widths) and (room := room - widths[last]) >= 0:
        last += 1
    return first, last


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and "##" not in text


def _make_cells(text: str, encoding: str) -> list[str]:
    cells = visible_characters(text, encoding)
    if "\t" in text:
        column = 0
        for index, character in enumerate(text):
            if character == "\t":
                cells[index] = " " * (_TAB - column % _TAB)
            column += columns(cells[index])
    return cells


_BREAK = re.compile(r"\r\n|\n|\r")
_WIDTH = 120
"""Columns of a frame where nobody looks at a terminal."""
_NARROWEST = 20


@value
class Underline:
    """A part of the source to underline, with the sign and style of the line, and words beside it."""

    span: Span
    sign: str
    style: Style
    label: str = ""


class SourceLines:
    """Lines of one file, by number."""

    def __init__(self, lines: Mapping[int, str]) -> None:
        self._lines = lines

    @classmethod
    def of(cls, data: bytes) -> SourceLines:
        """Return all lines of a file."""
        return cls(dict(enumerate(_BREAK.split(data.decode(errors="replace")), 1)))

    def line(self, number: int) -> str:
        """Return a line by its number from one; beyond the end of the file lines are empty."""
        return self._lines.get(number, "")


@value
class SourceFrame:
    """Draws marked lines of one file; `gutter` is the width of the column of line numbers."""

    lines: SourceLines
    canvas: Canvas
    gutter: int

    def draw(self, marks: Iterable[Underline]) -> Iterator[str]:
        """Yield every marked line with its underlines; the first mark of a line decides which part is shown."""
        yield self._row("")
        previous: tuple[int, str] | None = None
        for mark in sorted(marks, key=lambda each: each.span.start.line):
            number = mark.span.start.line
            shown = self._cut(mark)
            if previous != (number, shown.text):
                yield from self._between(previous[0] if previous else number, number)
                yield self._row(shown.text, str(number))
            previous = number, shown.text
            yield from self._underline(mark, shown)

    def _between(self, last: int, number: int) -> Iterator[str]:
        """Bridge the lines from one shown line to the next: a single one is shown, more are left out."""
        if number == last + 2:
            yield self._row(
                cut(self.lines.line(last + 1), (0, 0), self._room, self.canvas.encoding).text, str(last + 1)
            )
        elif number > last + 2:
            yield self._paint("...", Style.GUTTER)

    def _cut(self, mark: Underline) -> Cut:
        line = self.lines.line(mark.span.start.line)
        start, end = mark.span.start, mark.span.end
        stop = end.column - 1 if end.line == start.line else len(line.rstrip())
        return cut(line, (start.column - 1, stop), self._room, self.canvas.encoding)

    def _underline(self, mark: Underline, shown: Cut) -> Iterator[str]:
        line = " " * shown.offset + self._paint(mark.sign * shown.width, mark.style)
        if not mark.label:
            yield self._row(line)
        elif self.canvas.width is None or shown.offset + shown.width + 1 + columns(mark.label) <= self._room:
            yield self._row(f"{line} {self._paint(mark.label, mark.style)}")
        else:
            yield self._row(line)
            # start words under what they speak of, or as far to the left as they need
            parts = wrap(mark.label, self._room)
            indent = max(0, min(shown.offset, self._room - max(columns(part) for part in parts)))
            for part in (" " * indent + part for part in parts):
                yield self._row(self._paint(part, mark.style))

    def _row(self, text: str, number: str = "") -> str:
        return f"{self._paint(f'{number:>{self.gutter}} |', Style.GUTTER)} {text}".rstrip(" ")

    @property
    def _room(self) -> int:
        return max(_NARROWEST, (self.canvas.width or _WIDTH) - self.gutter - len(" | "))

    @property
    def _paint(self) -> Paint:
        return Paint(self.canvas.colour)
