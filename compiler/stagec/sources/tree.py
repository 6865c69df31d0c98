"""One file as read: its value, and every fault found in it, kept as facts for the rules."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Place, Position, Span
from stagec.core.value import NOTHING, value
from stagec.sources.suppression import Suppression


def write_stretches(text: str, edits: Iterable[Edit], start: int = 0) -> str:
    """Return a text with other texts in place of stretches behind an offset; raises ValueError if two overlap."""
    ranges = {edit.at.range: str(edit.value) for edit in edits if edit.change is Change.WRITE and edit.at.range}
    parts: list[str] = []
    position = start
    for (begin, end), new in sorted(ranges.items()):
        if not position <= begin <= end <= len(text):
            raise ValueError(f"there is no stretch from {begin} to {end}")
        parts += (text[position:begin], new)
        position = end
    return "".join((text[:start], *parts, text[position:]))


@value
class Fault:
    """One thing that is wrong with a file, without a sentence about it: sentences are in `rules/`.

    `topic` is the name of the rule that reports it, `reason` selects its message, `facts` fill the message, and
    `related` are further places, each with its explanation.
    """

    topic: str
    at: Place
    reason: str = ""
    facts: Mapping[str, object] = NOTHING
    related: tuple[tuple[Place, str], ...] = ()


@value
class Format:
    """An input syntax: the suffixes it answers to, and how its text is read, searched and changed.

    `parse(file, data, budgets)` returns the value and the faults of a file's bytes; the value is None when nothing
    could be read. `locate(data, places)` returns the span of each place, of its nearest written ancestor where the
    place itself is not there. `apply(text, edits)` returns the text with the edits made and nothing else changed.
    `take_suppressions(file, data, value)` returns what the file does not want to be told, and takes from its value what
    says so.
    """

    name: str
    suffixes: tuple[str, ...]
    parse: Callable[[str, bytes, Budgets], Parsed]
    locate: Callable[[bytes, Iterable[Place]], Mapping[Place, Span]]
    apply: Callable[[str, Iterable[Edit]], str]
    take_suppressions: Callable[[str, bytes, Json], tuple[Suppression, ...]] = lambda _file, _data, _value: ()


@value
class Parsed:
    """A file's value and what is wrong with it.

    `body` is where the prose of a Markdown file begins and ends, in characters of the text.
    """

    value: Json = None
    faults: tuple[Fault, ...] = ()
    body: tuple[int, int] | None = None


_INVISIBLE = re.compile(
    rb"\xf3\xa0[\x80-\x87]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xd8\x9c|\xe2\x81[\xa0-\xa9]|.\xef\xbb\xbf", re.DOTALL
)
"""Tags, selectors, blanks without width and marks of direction, in UTF-8."""


@value
class Tree:
    """One file as read. `kind` is what the project takes it for: `registry`, `agent`, `schema`, `prompt` or `file`.

    `readable` tells whether there is a `value` to judge; a file with faults may still have one, such as one with a
    repeated key.
    """

    file: str
    kind: str
    format: Format
    data: bytes = b""
    value: Json = None
    faults: tuple[Fault, ...] = ()
    body: tuple[int, int] | None = None
    readable: bool = True
    suppressions: tuple[Suppression, ...] = ()

    @property
    def at(self) -> Place:
        """The place of the whole file."""
        return Place(self.file)

    @property
    def may_hide(self) -> bool:
        """Whether characters may be in the file that nobody sees; a quick look, which most files pass."""
        return not self.data.isascii() and _INVISIBLE.search(self.data) is not None

    def about(self, topic: str) -> Iterable[Fault]:
        """Return the faults that one rule speaks of."""
        return (fault for fault in self.faults if fault.topic == topic)


_BREAK = re.compile(r"\r\n|\n|\r")
_BLOCK = 1 << 14


class Lines:
    """The line starts of one text; a line ends with a line feed, a carriage return, or both.

    Few positions are asked for in most texts: without carriage returns, the lines before each block of the text are
    counted, and those inside of a block only where a position is.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))] if "\r" in text else []
        counts = (text.count("\n", start, start + _BLOCK) for start in range(0, len(text), _BLOCK))
        self._before = [0, *accumulate(counts)] if not self._starts else []

    def position(self, offset: int) -> Position:
        """Return the position of a character offset; an offset beyond the text is its end."""
        inside = min(max(offset, 0), len(self._text))
        if self._starts:
            line = bisect_right(self._starts, inside)
            return Position(line, inside - self._starts[line - 1] + 1)
        block = inside // _BLOCK
        line = self._before[block] + self._text.count("\n", block * _BLOCK, inside) + 1
        return Position(line, inside - self._text.rfind("\n", 0, inside))

    def span(self, start: int, end: int) -> Span:
        """Return the span from one offset to another, end exclusive."""
        return Span(self.position(start), self.position(end))
