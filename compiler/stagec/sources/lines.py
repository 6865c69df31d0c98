"""From character offsets to lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right

from stagec.core.place import Position, Span

_BREAK = re.compile(r"\r\n|\n|\r")


class Lines:
    """The line starts of one text; a line ends with a line feed, a carriage return, or both."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    def position(self, offset: int) -> Position:
        """Return the position of a character offset; an offset beyond the text is its end."""
        inside = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, inside)
        return Position(line, inside - self._starts[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        """Return the span from one offset to another, end exclusive."""
        return Span(self.position(start), self.position(end))
