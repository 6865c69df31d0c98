"""Positions as editors count them: lines and UTF-16 code units from zero; offsets count characters of the text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate

from stagec.core.place import Position, Span
from stagec.core.value import value

_BREAK = re.compile(r"\r\n|\n|\r")
_WIDEST = 0xFFFF
"""The last character that is one code unit of UTF-16."""


@value
class Point:
    """A position in a text, from zero; `character` counts UTF-16 code units."""

    line: int
    character: int


@value
class Stretch:
    """A part of a text; `end` is the position just behind it."""

    start: Point
    end: Point

    def holds(self, point: Point) -> bool:
        """Tell whether a position is inside, at the beginning or just behind the end."""
        here = (point.line, point.character)
        return (self.start.line, self.start.character) <= here <= (self.end.line, self.end.character)


@value
class TextChange:
    """A new text for a part of a text; for the whole text where `where` is None."""

    text: str
    where: Stretch | None = None


_BLOCK = 1 << 14


class TextLines:
    """The lines of one text.

    Few are asked for in most texts: without carriage returns, the lines before each block of the text are counted, and
    those inside of a block only where one is asked for.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))] if "\r" in text else []
        counts = (text.count("\n", start, start + _BLOCK) for start in range(0, len(text), _BLOCK))
        self._before = [0, *accumulate(counts)] if not self._starts else []
        self._is_plain = text.isascii()

    def offset(self, point: Point) -> int:
        """Return the offset of a position; one behind the end of its line is the end of the line."""
        if point.line < 0:
            return 0
        if point.line >= self.count:
            return len(self.text)
        line, start = self.line(point.line), self.line_start(point.line)
        if self._is_plain:
            return start + min(max(point.character, 0), len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= point.character:
                return start + index
            units += _count_units(character)
        return start + len(line)

    def point(self, offset: int) -> Point:
        """Return the position of an offset."""
        inside = min(max(offset, 0), len(self.text))
        if self._starts:
            line = bisect_right(self._starts, inside) - 1
            return Point(line, _count_units(self.text[self._starts[line] : inside]))
        block = inside // _BLOCK
        line = self._before[block] + self.text.count("\n", block * _BLOCK, inside)
        return Point(line, _count_units(self.text[self.text.rfind("\n", 0, inside) + 1 : inside]))

    def stretch(self, start: int, end: int) -> Stretch:
        """Return the part of the text from one offset to another."""
        return Stretch(self.point(start), self.point(end))

    def stretch_of(self, span: Span) -> Stretch:
        """Return the part of the text that a span of the compiler means."""
        return Stretch(self._convert(span.start), self._convert(span.end))

    def line_start(self, number: int) -> int:
        """Return the offset at which a line begins."""
        if self._starts or not number:
            return self._starts[number] if number else 0
        block = bisect_left(self._before, number) - 1
        at = block * _BLOCK - 1
        for _ in range(number - self._before[block]):
            at = self.text.index("\n", at + 1)
        return at + 1

    def line(self, number: int) -> str:
        """Return a line without its end."""
        end = self.line_start(number + 1) if number + 1 < self.count else len(self.text)
        return self.text[self.line_start(number) : end].rstrip("\r\n")

    def split(self) -> list[str]:
        """Return all lines without their ends."""
        return _BREAK.split(self.text)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._starts) or self._before[-1] + 1

    def _convert(self, position: Position) -> Point:
        line = position.line - 1
        if line >= self.count:
            return self.point(len(self.text))
        start = self.line_start(line)
        return Point(line, _count_units(self.text[start : start + position.column - 1]))


def _count_units(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + (ord(each) > _WIDEST) for each in text)


def change_text(text: str, changes: Iterable[TextChange]) -> str:
    """Return a text after changes, each of which applies to the result of those before it."""
    for each in changes:
        if each.where is None:
            text = each.text
            continue
        lines = TextLines(text)
        start, end = lines.offset(each.where.start), lines.offset(each.where.end)
        text = text[: min(start, end)] + each.text + text[max(start, end) :]
    return text
