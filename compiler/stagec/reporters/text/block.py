"""One diagnostic as a block of lines: what is wrong, where, what explains it, and what would fix it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.diagnostic import Remark
from stagec.core.place import Place, Span
from stagec.core.terminal import Paint, Style, columns, wrap
from stagec.core.visible import visible
from stagec.reporters import Canvas, Diagnostic, Tree, format_count
from stagec.reporters.text.frame import SourceFrame, SourceLines, Underline

_NEAR = 6
"""A related place at most so many lines away is shown in the same frame."""


class Blocks:
    """Draws diagnostics about the files of one project; remembers the lines of files and which rules it named."""

    def __init__(self, trees: Mapping[str, Tree], canvas: Canvas) -> None:
        self._trees = trees
        self._canvas = canvas
        self._paint = Paint(canvas.colour)
        self._lines: dict[str, SourceLines | None] = {}
        self._explained: set[str] = set()

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
        where = f"{self._visible(at.file)}:{start.line}:{start.column}"
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
            yield from self._note("fix", f"{each.fix.message} (--fix does it)", indent)
        if each.folded:
            yield from self._note("folded", f"{format_count(each.folded, 'follow-on finding')} not shown", indent)
        if each.code not in self._explained:  # once is enough where one mistake was made a hundred times
            self._explained.add(each.code)
            yield from self._note("help", f"stagec explain {each.code}", indent)

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
            self._lines[file] = SourceLines(tree.data) if tree and tree.data else None
        return self._lines[file]

    def _visible(self, text: str) -> str:
        return visible(text, self._canvas.encoding)


def _is_near(also: Remark, each: Diagnostic) -> bool:
    return also.at.file == each.at.file and _distance(also.span, each.span) <= _NEAR


def _distance(one: Span, other: Span) -> int:
    return abs(one.start.line - other.start.line)
