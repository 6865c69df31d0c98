"""Read flow collections and quoted scalars of the everyday kind, by regular expressions."""

from __future__ import annotations

import re

from stagec.core.json import Json
from stagec.sources.yaml_text.scalars import meaning

SINGLE = r"'[^'\n]*+(?:''[^'\n]*+)*'"
DOUBLE = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"'
QUOTED = r"""'[^']*+(?:''[^']*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
"""A quoted scalar, on one line or on several; the two before are for keys, which end on their line."""

COLON = r"[ ]{0,20}+:"
"""Behind a key; the parser looks for it in the next 1,024 characters, and `named` sees to the key's own length."""

_GAP = r"[ \n]*+(?:(?<=[ \n])#[^\n]*+\n[ \n]*+)*+"
_FIRST = r"(?:[^ \n:#,\[\]{}&*!|>'\"%@`?-]|-(?=[0-9A-Za-z.]))"
_WITHIN = r"[^ \n:#,\[\]{}]"
_PLAIN = rf"{_FIRST}{_WITHIN}*+(?:(?::(?=[0-9A-Za-z/])| ++(?={_WITHIN})){_WITHIN}*+)*"
_KEY = rf"(?:{_PLAIN})(?={COLON}[ \n])|{SINGLE}|{DOUBLE}"
_PART = re.compile(rf"{_GAP}(?:({_KEY}){COLON}{_GAP})?(?:({_PLAIN})|({QUOTED}))?{_GAP}([\[\]{{}},])").match
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
