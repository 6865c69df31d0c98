"""Read everyday YAML without a parser, or leave it to the parser: whatever is unusual, and every mistake."""

from __future__ import annotations

import re

from stagec.core.collector import PausedCollector
from stagec.core.json import Json
from stagec.sources.yaml_text.nodes import NumberError, meaning

SINGLE = r"'[^'\n]*+(?:''[^'\n]*+)*'"
DOUBLE = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"'
QUOTED = r"""'[^']*+(?:''[^']*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
"""A quoted scalar, on one line or on several; the two before are for keys, which end on their line."""


COLON = r"[ ]{0,20}+:"
"""Behind a key; the parser looks for it in the next 1,024 characters, and `named` sees to the key's own length."""


_GAP = r"[ \n]*+(?:(?<=[ \n])#[^\n]*+\n[ \n]*+)*+"
_FLOW_FIRST = r"(?:[^ \n:#,\[\]{}&*!|>'\"%@`?-]|-(?=[0-9A-Za-z.]))"
_FLOW_WITHIN = r"[^ \n:#,\[\]{}]"
_FLOW_PLAIN = rf"{_FLOW_FIRST}{_FLOW_WITHIN}*+(?:(?::(?=[0-9A-Za-z/])| ++(?={_FLOW_WITHIN})){_FLOW_WITHIN}*+)*"
_FLOW_KEY = rf"(?:{_FLOW_PLAIN})(?={COLON}[ \n])|{SINGLE}|{DOUBLE}"
_PART = re.compile(rf"{_GAP}(?:({_FLOW_KEY}){COLON}{_GAP})?(?:({_FLOW_PLAIN})|({QUOTED}))?{_GAP}([\[\]{{}},])").match
"""A key if there is one, a plain or quoted scalar if there is one, and the mark behind, which may open a collection."""


_MARK = re.compile(rf"{_GAP}([\]}},])").match
_BREAKS = re.compile(r"\n(\n*)")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = dict(zip('0abtnvfre "/\\', '\0\a\b\t\n\v\f\r\x1b "/\\', strict=True))
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_LONGEST_KEY = 500
"""Characters; the parser stops looking for the colon of a key after 1,024."""


class UnusualError(ValueError):
    """Something that the parser has to decide about."""


def flow(text: str, at: int, left: int) -> tuple[Json, int]:
    """Return the collection whose bracket stands at an offset, and the offset behind it; `left` more may open."""
    if not left:
        raise UnusualError
    return _mapping(text, at + 1, left - 1) if text[at] == "{" else _sequence(text, at + 1, left - 1)


def _sequence(text: str, at: int, left: int) -> tuple[list[Json], int]:
    found: list[Json] = []
    mark = ","
    while mark == ",":
        part = _PART(text, at)
        if part is None or part[1] is not None:
            raise UnusualError
        if part[4] == "]" and part[2] is part[3] is None:
            return found, part.end()
        given, at, mark = _element(part, left)
        found.append(given)
    if mark != "]":
        raise UnusualError
    return found, at


def _mapping(text: str, at: int, left: int) -> tuple[dict[str, Json], int]:
    found: dict[str, Json] = {}
    mark = ","
    while mark == ",":
        part = _PART(text, at)
        if part is None:
            raise UnusualError
        if part[4] == "}" and part[1] is part[2] is part[3] is None:
            return found, part.end()
        name = read_name(part[1], found)
        found[name], at, mark = _element(part, left)
    if mark != "}":
        raise UnusualError
    return found, at


def _element(part: re.Match[str], left: int) -> tuple[Json, int, str]:
    """Return an element, the offset behind it and its comma or bracket, and that mark."""
    _, plain, quoted, mark = part.groups()
    if plain is not None:
        return meaning(plain), part.end(), mark
    if quoted is not None:
        return unquote(quoted), part.end(), mark
    if mark not in "[{":
        raise UnusualError
    given, at = flow(part.string, part.start(4), left)
    end = _MARK(part.string, at)
    if end is None:
        raise UnusualError
    return given, end.end(), end[1]


def read_name(key: str | None, among: dict[str, Json]) -> str:
    """Return the name that a key gives its member, which must be new."""
    if key is None or len(key) > _LONGEST_KEY:
        raise UnusualError
    name = unquote(key) if key[0] in "'\"" else key
    if name in among:
        raise UnusualError
    return name


def unquote(written: str) -> str:
    """Return the text that a quoted scalar stands for."""
    inside = written[1:-1]
    if "\n" in inside:
        if written[0] == '"' and "\\ " in inside:
            raise UnusualError
        inside = fold_lines(inside)
    if written[0] == "'":
        return inside.replace("''", "'")
    return _ESCAPE.sub(_character, inside) if "\\" in inside else inside


def fold_lines(written: str) -> str:
    """Join the lines of a scalar: a single break is a space, empty lines are breaks."""
    first, *others = written.split("\n")
    lines = [each.strip(" ") for each in others[:-1]]
    return join_lines("\n".join([first.rstrip(" "), *lines, *(each.lstrip(" ") for each in others[-1:])]))


def join_lines(lines: str) -> str:
    """Put a space for each single break, and one break less for several."""
    return _BREAKS.sub(lambda breaks: breaks[1] or " ", lines)


def _character(escape: re.Match[str]) -> str:
    *codes, letter = escape.groups()
    if letter is not None:
        if letter not in _ESCAPED:
            raise UnusualError
        return _ESCAPED[letter]
    code = int(next(each for each in codes if each is not None), 16)
    if code > _LAST or code in _SURROGATES:
        raise UnusualError
    return chr(code)


_STRANGE = frozenset(map(chr, (*range(10), *range(11, 32), *range(127, 160), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)))
"""Characters that the parser refuses, takes for breaks, or (tabs) treats in ways of its own."""


_DEEPEST = 100
"""Collections inside each other, whatever the budget: each is read by a call inside a call."""


_BLANK = r"(?: *+(?:#[^\n]*+)?\n)*"
_END = rf" *+(?:(?<= )#[^\n]*+)?\n{_BLANK}"
"""The rest of a line behind a value, and the lines below that say nothing."""


_QUICK_FIRST = r"[^ \n:#,\[\]{}&*!|>'\"%@`?-]"
_QUICK_WITHIN = r"[^ \n:#]"
_REST = rf"{_QUICK_WITHIN}*+(?:(?::(?=[^ \n])|#| ++(?=[^ #\n])){_QUICK_WITHIN}*+)*"
_QUICK_PLAIN = rf"(?:{_QUICK_FIRST}|-(?=[^ \n])){_REST}"
_NAME = rf"{_QUICK_FIRST}{_QUICK_WITHIN}*+(?:(?::(?=[^ \n])| ++(?={_QUICK_WITHIN})){_QUICK_WITHIN}*+)*"
_QUICK_KEY = rf"{_NAME}|{SINGLE}|{DOUBLE}"
_ROW = re.compile(
    rf"(?:({_QUICK_KEY}){COLON}|-)(?=[ \n]) *+(?:(?:({_QUICK_PLAIN})|({QUOTED})|){_END}( *+)|([\[{{|>]))"
).match
"""A key or a dash, then a scalar or nothing, the end of the line and the next indentation; or else what opens more."""


_DASH = re.compile(r"- ++").match
_AFTER = re.compile(rf"{_END}( *+)").match
_LONE = re.compile(_QUICK_PLAIN).match
_MORE = re.compile(rf" *+\n(?: *+\n)*+( *+){_QUICK_WITHIN}{_REST}").match
_QUOTED = re.compile(QUOTED).match
_HEADER = re.compile(r"[|>]([+-]?) *+(?:(?<= )#[^\n]*+)?(\n+)( *+)(?=[^ \n])").match
_START = re.compile(rf"{_BLANK}(?:---\n{_BLANK})?").match


_INDENTED = re.compile(r"((?:(?<=\n)|\A) [^\n]*+\n++|\n++(?= ))|\n(\n*)")
"""Line breaks of a folded block: those beside deeper lines stay, the others become spaces."""


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
