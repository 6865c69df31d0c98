"""Read everyday YAML without a parser, or leave it to the parser: whatever is unusual, and every mistake."""

from __future__ import annotations

import re

from stagec.core.collector import PausedCollector
from stagec.core.json import Json
from stagec.sources.yaml_text.quick_flow import (
    COLON,
    DOUBLE,
    QUOTED,
    SINGLE,
    UnusualError,
    flow,
    fold_lines,
    join_lines,
    read_name,
    unquote,
)
from stagec.sources.yaml_text.scalars import NumberError, meaning

_STRANGE = frozenset(map(chr, (*range(10), *range(11, 32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)))
"""Characters that the parser refuses, takes for breaks, or (tabs) treats in ways of its own."""

_DEEPEST = 100
"""Collections inside each other, whatever the budget: each is read by a call inside a call."""

_BLANK = r"(?: *+(?:#[^\n]*+)?\n)*"
_END = rf" *+(?:(?<= )#[^\n]*+)?\n{_BLANK}"
"""The rest of a line behind a value, and the lines below that say nothing."""

_FIRST = r"[^ \n:#,\[\]{}&*!|>'\"%@`?-]"
_WITHIN = r"[^ \n:#]"
_REST = rf"{_WITHIN}*+(?:(?::(?=[^ \n])|#| ++(?=[^ #\n])){_WITHIN}*+)*"
_PLAIN = rf"(?:{_FIRST}|-(?=[^ \n])){_REST}"
_NAME = rf"{_FIRST}{_WITHIN}*+(?:(?::(?=[^ \n])| ++(?={_WITHIN})){_WITHIN}*+)*"
_KEY = rf"{_NAME}|{SINGLE}|{DOUBLE}"
_ROW = re.compile(rf"(?:({_KEY}){COLON}|-)(?=[ \n]) *+(?:(?:({_PLAIN})|({QUOTED})|){_END}( *+)|([\[{{|>]))").match
"""A key or a dash, then a scalar or nothing, the end of the line and the next indentation; or else what opens more."""

_DASH = re.compile(r"- ++").match
_AFTER = re.compile(rf"{_END}( *+)").match
_LONE = re.compile(_PLAIN).match
_MORE = re.compile(rf" *+\n(?: *+\n)*+( *+){_WITHIN}{_REST}").match
_QUOTED = re.compile(QUOTED).match
_HEADER = re.compile(r"[|>]([+-]?) *+(?:(?<= )#[^\n]*+)?(\n+)( *+)(?=[^ \n])").match
_START = re.compile(rf"{_BLANK}(?:---\n{_BLANK})?").match

_INDENTED = re.compile(r"((?:(?<=\n)|\A) [^\n]*+\n++|\n++(?= ))|\n(\n*)")
"""Breaks of a folded block that stay, next to lines that are further in, and those that become spaces."""

_LEFT = ("\n%", "\n...", "- - - - - ")
"""Directives, ends of documents, and so many dashes that they may be refused as nesting, whatever they are."""

_Found = tuple[Json, int, int]
"""A value, the offset of what comes next, and its column: -1 at the end of the text."""


def quick(text: str, depth: int) -> Json:
    """Return the collection that a text is, exactly as the parser would, or None when the parser has to decide."""
    lines = text.replace("\r\n", "\n") if "\r" in text else text
    if not _STRANGE.isdisjoint(set(lines)) or any(each in lines for each in _LEFT):
        return None
    ended = lines.endswith("\n")
    reader = _Reader(lines if ended else f"{lines}\n", ended=ended)
    try:
        with PausedCollector():
            return reader.root(min(depth, _DEEPEST))
    except (UnusualError, NumberError):
        return None


class _Reader:
    """The text, and where it ends."""

    def __init__(self, text: str, *, ended: bool) -> None:
        self._text = text
        self._end = len(text)
        self._ended = ended

    def root(self, depth: int) -> Json:
        start = _START(self._text)
        at = start.end() if start else 0
        if at == self._end or self._text.startswith("...", at) or self._text.find("\n---", max(at - 1, 0)) >= 0:
            raise UnusualError
        given, _, _ = self._block(at, 0, -1, depth)
        return given if isinstance(given, (dict, list)) else None

    def _block(self, at: int, column: int, parent: int, left: int) -> _Found:
        """Read a value that begins in a column, inside a collection in the column `parent`; `left` more may open."""
        first = self._text[at]
        if not left:
            raise UnusualError
        if first == "-" and self._text[at + 1] in " \n":
            return self._sequence(at, column, parent, left - 1)
        if first in "[{":
            given, at = flow(self._text, at, left)
            return given, *self._next(at, parent)
        return self._mapping(at, column, parent, left - 1)

    def _mapping(self, at: int, column: int, parent: int, left: int) -> _Found:
        found: dict[str, Json] = {}
        there = column
        while there == column:
            row = _ROW(self._text, at)
            if row is None and not found:
                return self._scalar(at, parent)
            if row is None:
                raise UnusualError
            name = read_name(row[1], found)
            found[name], at, there = self._value(row, column, left)
        if there > parent:
            raise UnusualError
        return found, at, there

    def _sequence(self, at: int, column: int, parent: int, left: int) -> _Found:
        found: list[Json] = []
        there = column
        while there == column and self._text[at] == "-":
            row = _ROW(self._text, at)
            given, at, there = self._value(row, column, left) if row else self._compact(at, column, left)
            found.append(given)
        if there > parent:
            raise UnusualError
        return found, at, there

    def _compact(self, at: int, column: int, left: int) -> _Found:
        """Read a collection that begins behind a dash, on its line."""
        dash = _DASH(self._text, at)
        if dash is None:
            raise UnusualError
        return self._block(dash.end(), column + dash.end() - at, column, left)

    def _value(self, row: re.Match[str], column: int, left: int) -> _Found:
        _, plain, quoted, indent, opener = row.groups()
        if opener is not None:
            return self._open(row.start(5), column, left)
        at = row.end()
        there = len(indent) if at < self._end else -1
        if plain is not None:
            return (meaning(plain), at, there) if there <= column else self._lines(row.start(2), column)
        if quoted is None:
            return self._below(row, there, column, left)
        if there > column:
            raise UnusualError
        return unquote(quoted), at, there

    def _below(self, row: re.Match[str], there: int, column: int, left: int) -> _Found:
        """Read a value that begins on a line below its key or dash; nothing there means null."""
        at = row.end()
        if there > column:
            return self._block(at, there, column, left)
        if there == column and row[1] is not None and self._text.startswith(("- ", "-\n"), at):
            return self._block(at, there, column, left)
        return None, at, there

    def _open(self, at: int, column: int, left: int) -> _Found:
        if self._text[at] in "|>":
            return self._block_scalar(at, column)
        given, at = flow(self._text, at, left)
        return given, *self._next(at, column)

    def _scalar(self, at: int, parent: int) -> _Found:
        """Read a scalar that stands on a line of its own, or begins there."""
        if self._text[at] not in "'\"":
            return self._lines(at, parent)
        quoted = _QUOTED(self._text, at)
        if quoted is None:
            raise UnusualError
        return unquote(quoted[0]), *self._next(quoted.end(), parent)

    def _lines(self, at: int, parent: int) -> _Found:
        """Read a plain scalar with the lines that continue it, which are further in than the collection it is in."""
        piece = _LONE(self._text, at)
        end = at
        while piece is not None:
            end = piece.end()
            piece = _MORE(self._text, end)
            if piece is not None and len(piece[1]) <= parent:
                piece = None
        if end == at:
            raise UnusualError
        return meaning(fold_lines(self._text[at:end])), *self._next(end, parent)

    def _next(self, at: int, most: int) -> tuple[int, int]:
        """Return the offset of what comes after the rest of a line, and its column, which may not be beyond `most`."""
        after = _AFTER(self._text, at)
        if after is None:
            raise UnusualError
        there = len(after[1]) if after.end() < self._end else -1
        if there > most:
            raise UnusualError
        return after.end(), there

    def _block_scalar(self, at: int, column: int) -> _Found:
        header = _HEADER(self._text, at)
        if header is None or len(header[3]) <= column:
            raise UnusualError
        lines, end = self._read_indented(header.start(3), header[3])
        if end == self._end and not self._ended:
            raise UnusualError
        content = "\n".join(lines).rstrip("\n")
        breaks = len(lines) - content.count("\n") if header[1] == "+" else int(not header[1])
        if self._text[at] == ">":
            further_in = content.startswith(" ") or "\n " in content
            joined = _INDENTED.sub(lambda found: found[1] or found[2] or " ", content)
            content = joined if further_in else join_lines(content)
        return header[2][1:] + content + "\n" * breaks, *self._next(end - 1, column)

    def _read_indented(self, at: int, indent: str) -> tuple[list[str], int]:
        """Return the lines that are indented so, blank ones included, and the offset behind them."""
        lines: list[str] = []
        while at < self._end:
            stop = self._text.index("\n", at)
            if self._text.startswith(indent, at):
                lines.append(self._text[at + len(indent) : stop])
            elif self._text[at:stop].strip(" "):
                break
            else:
                lines.append("")
            at = stop + 1
        return lines, at
