"""What a call would do, for whoever decides about it: every argument, so that nothing in it hides anything.

First comes what the call acts on. Long values are folded, with their length. What is not seen, or moves other text, is
spelled out in `⟦⟧`, which no value itself can show. Every row of a value begins with a bar, so no value can look
like what stagec says. The terminal, JSON and the page show the same rows.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from stagec.core.json import Json
from stagec.core.terminal import columns
from stagec.core.value import value

_WIDTH = 70
"""Columns of a row; the rest of a line follows in the next row."""
_FOLDED, _FOLDED_TARGET = 400, 4_000
"""Characters from which a value is folded; what a call acts on is shown at once up to the larger number."""
_HEAD, _TAIL = 240, 120
_NAME = re.compile(r"[A-Za-z0-9_.$-]{1,40}")
"""Names of arguments that cannot be taken for anything else; others are shown as JSON."""
_BLANKS = 3
"""Blanks in a row that are spelled out, except where a line begins."""
_INDENT = 24
"""Blanks at the beginning of a line that are shown as they are."""
_TARGETS = (
    *(
        "command",
        "cmd",
        "script",
        "code",
        "sql",
        "query",
        "statement",
        "path",
        "file",
        "filename",
        "folder",
        "directory",
    ),
    *("dir", "cwd", "url", "uri", "address", "host", "endpoint", "to", "recipient", "target", "destination", "source"),
    *("repository", "repo", "branch", "database", "table", "bucket", "name", "id", "method", "action"),
)
"""Names that say what a call acts on, in this order; also as the end of a name, such as `file_path` or `targetUrl`."""


@value
class ShownArgument:
    """One argument: its name, its length in characters, the rows that are shown at once, and all of its rows."""

    name: str
    length: int
    rows: tuple[str, ...]
    whole: tuple[str, ...]

    @property
    def is_folded(self) -> bool:
        """Whether the rows that are shown at once are not all."""
        return self.rows != self.whole


def show_arguments(arguments: Json) -> tuple[ShownArgument, ...]:
    """Return the arguments of a call: first what it acts on, then the others, the short ones first."""
    if not isinstance(arguments, dict):
        return (_show("arguments", arguments),)
    known = [name for name in arguments if _NAME.fullmatch(name)]
    others = {name: each for name, each in arguments.items() if name not in known}
    ranked = sorted(known, key=lambda name: (_rank(name), len(_write(arguments[name]))))
    shown = tuple(_show(name, arguments[name], is_target=_rank(name) < len(_TARGETS)) for name in ranked)
    return (*shown, _show("others", others)) if others else shown


def list_rows(shown: tuple[ShownArgument, ...], *, whole: bool = False) -> Iterator[str]:
    """Yield the rows of arguments as a text, folded or whole; only the names and the marks are no text of a caller."""
    for each in shown:
        rows = each.whole if whole else each.rows
        if len(rows) == 1:
            yield f"{each.name}: {rows[0]}"
            continue
        folded = "" if whole or not each.is_folded else ", folded: the details show all of them"
        yield f"{each.name}: {each.length:,} characters{folded}"
        yield from (f"  {row}" for row in rows)


def argument_to_json(shown: ShownArgument) -> Mapping[str, Json]:
    """Return an argument for JSON and the page; `whole` is there where it is more than `rows`."""
    told: dict[str, Json] = {"name": shown.name, "length": shown.length, "rows": list(shown.rows)}
    return {**told, "whole": list(shown.whole)} if shown.is_folded else told


def spell(text: str) -> str:
    """Return a text on one line, in which what is not seen, or looks like something else, is spelled out."""
    return "".join(_spell_line(line) + ("" if end else "⟦line break⟧") for line, end in _split(text))


def _rank(name: str) -> int:
    """Return the place of an argument among those that say what a call acts on; the others come last."""
    words = [each.lower() for each in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return next((at for at, target in enumerate(_TARGETS) if words[-1:] == [target]), len(_TARGETS))


def _write(given: Json) -> str:
    if isinstance(given, str):
        return given
    return json.dumps(given, indent=2, ensure_ascii=False)


def _show(name: str, given: Json, *, is_target: bool = False) -> ShownArgument:
    text = _write(given)
    whole = _make_rows(text)
    most = _FOLDED_TARGET if is_target else _FOLDED
    if len(text) <= most:
        return ShownArgument(name, len(text), whole, whole)
    head, tail = (most // 2, most // 4) if is_target else (_HEAD, _TAIL)
    left = len(text) - head - tail
    mark = f"⟦{left:,} more characters are folded here⟧"
    return ShownArgument(name, len(text), (*_make_rows(text[:head]), mark, *_make_rows(text[-tail:])), whole)


def _make_rows(text: str) -> tuple[str, ...]:
    """Return the lines of a text as rows that begin with a bar, or with a colon where they go on with a line."""
    rows: list[str] = []
    for line, _ in _split(text):
        begin = "| "
        for piece in _wrap(_spell_line(line)):
            rows.append(begin + piece)
            begin = ": "
    return tuple(rows)


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text, each with whether it is the last one; an empty text is spelled out."""
    lines = text.split("\n")
    yield from ((line, at == len(lines)) for at, line in enumerate(lines, 1))


def _wrap(line: str) -> Iterator[str]:
    """Yield the pieces of a line that a row has room for."""
    if line.isascii():
        yield from (line[at : at + _WIDTH] for at in range(0, len(line), _WIDTH))
        return
    piece, width = "", 0
    for each in line:
        taken = _measure(each)
        if width + taken > _WIDTH:
            yield piece
            piece, width = "", 0
        piece, width = piece + each, width + taken
    yield piece


@lru_cache(maxsize=4_096)
def _measure(character: str) -> int:
    return columns(character)


def _spell_line(line: str) -> str:
    if not line:
        return "⟦empty⟧"
    indent = len(line) - len(line.lstrip(" "))
    begin = line[:indent] if indent <= _INDENT and indent < len(line) else ""
    rest = re.sub(rf" {{{_BLANKS},}}| +$|^ +(?! )", _count_blanks, line[len(begin) :])
    if line.isascii() and line.isprintable():
        return begin + rest
    mixed = {at for match in _WORD.finditer(line) for at in _find_mixed(match)}
    told = "".join(_spell_character(line, at, is_mixed=at in mixed) for at in range(len(begin), len(line)))
    return begin + re.sub(rf" {{{_BLANKS},}}| +$", _count_blanks, told)


def _count_blanks(match: re.Match[str]) -> str:
    count = len(match[0])
    return f"⟦{count} blank{'' if count == 1 else 's'}⟧"


_WORD = re.compile(r"[^\W\d_]+(?:[-._/:@][^\W\d_]+)*")
_LOOKALIKES = frozenset(
    "\u2044\u2215\u2571\u29f8\u2216\u29f5\u037e\u2024\u2236\u02d0\u2010\u2011\u2212\u2223\u01c0\u2758"
)
"""Signs that look like others with which commands, paths and addresses are written."""
_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    *map(chr, _SELECTORS)
}
"""What is not seen though it is a letter, a mark or a sign."""


def _find_mixed(match: re.Match[str]) -> Iterator[int]:
    """Yield where a word has letters of another alphabet than that in which most commands are written, beside it."""
    alphabets = {unicodedata.name(each, "").partition(" ")[0] for each in match[0] if each.isalpha()}
    if "LATIN" in alphabets and alphabets & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}:
        yield from (at for at in range(*match.span()) if not unicodedata.name(match.string[at], "").startswith("LATIN"))


def _spell_character(line: str, at: int, *, is_mixed: bool) -> str:
    character = line[at]
    if character.isascii() and character.isprintable():
        return character
    return _spell_between(line[max(0, at - 1) : at], character, line[at + 1 : at + 2], is_mixed=is_mixed)


@lru_cache(maxsize=65_536)
def _spell_between(before: str, character: str, after: str, *, is_mixed: bool) -> str:
    """Return a character as it is shown; one that is not seen, or looks like another, by its number and its name."""
    if character == "\t":
        return "⟦tab⟧"
    kind = unicodedata.category(character)
    is_unseen = kind[0] in "CZ" or character in _UNSEEN
    is_stacked = kind[0] == "M" and (not before or unicodedata.category(before)[0] in "MPSZ")
    if is_unseen or is_stacked or character in _LOOKALIKES or character in "⟦⟧" or (is_mixed and character.isalpha()):
        return _name(character)
    plain = unicodedata.normalize("NFKC", character)
    is_like = plain.isascii() and plain.isprintable() and any("!" <= each <= "~" for each in before + after)
    return _name(character) if is_like or (plain.isascii() and plain.isalnum()) else character


@lru_cache(maxsize=4_096)
def _name(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"⟦U+{ord(character):04X}{' ' + name if name else ''}⟧"
