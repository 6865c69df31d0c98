"""Read the simplest frontmatter by regular expressions: most prompt files need no YAML parser."""

from __future__ import annotations

import re

from stagec.core.json import Json
from stagec.sources.yaml_text.scalars import NumberError, meaning

_FOREIGN = "[\u00a1-\u1fff\u2010-\u2027\u2030-\u205e\u2190-\u2bff\u3001-\ud7ff\uff01-\uffee]"
"""Letters of other scripts, which mean no more to YAML than `x`; in every class below they take 36 ms to compile."""
_LETTERS = "A-Za-z0-9_./()+=^$;<"
_MARKS = r"\[\]{},'`|>&*!%@~?\-"
_PLAIN = rf"""[A-Za-z0-9_./(](?:[{_LETTERS}{_MARKS}"]|:(?=[A-Za-z0-9/])|(?<=[^ ])[ ](?=[^ #:\n]))*"""
_SINGLE = rf"""'[{_LETTERS}{_MARKS.replace("'", "")} :#"\\]*'"""
_DOUBLE = rf'"[{_LETTERS}{_MARKS} :#]*"'
_WORD = r"""[A-Za-z0-9_./](?:[A-Za-z0-9_./+-]|(?<=[^ ])[ ](?=[A-Za-z0-9_./+]))*"""
_ONE = rf"(?:{_SINGLE}|{_DOUBLE}|{_WORD})"
_KEY = r"[A-Za-z_][A-Za-z0-9_.-]{0,99}"
_LINE = re.compile(
    rf"(?P<key>{_KEY}):"
    rf"(?: +(?:(?P<value>{_SINGLE}|{_DOUBLE}|{_PLAIN})|\[ *(?P<flow>{_ONE}(?: *, *{_ONE})*)? *\]))? *(?:\n+|\Z)"
)
_ITEM = re.compile(rf"(?P<indent> *)- +(?P<value>{_SINGLE}|{_DOUBLE}|{_PLAIN}) *(?:\n+|\Z)")
_ELEMENT = re.compile(_ONE)


def trivial(text: str) -> dict[str, Json] | None:
    """Return the mapping that a text of `key: value` lines is, or None when a YAML parser has to decide.

    Values are plain or simply quoted scalars, lists of them in brackets, or lists of lines with a dash.
    """
    lines = text.replace("\r\n", "\n").lstrip("\n")
    outline = lines if lines.isascii() else re.sub(_FOREIGN, "x", lines)
    found: dict[str, Json] = {}
    at = 0
    try:
        while at < len(lines):
            entry = _LINE.match(outline, at)
            if entry is None or entry["key"] in found or not _cut(lines, entry, "key").isascii():
                return None
            found[entry["key"]], at = _value(entry, lines, outline)
    except NumberError:
        return None
    return found


def _cut(lines: str, match: re.Match[str], group: str) -> str:
    """Return what stands in the text where its outline matched."""
    return lines[match.start(group) : match.end(group)]


def _value(entry: re.Match[str], lines: str, outline: str) -> tuple[Json, int]:
    if entry["value"] is not None:
        return _scalar(_cut(lines, entry, "value")), entry.end()
    if entry[0].rstrip().endswith("]"):
        elements = _ELEMENT.finditer(outline, *entry.span("flow")) if entry["flow"] else ()
        return [_scalar(lines[each.start() : each.end()]) for each in elements], entry.end()
    return _items(lines, outline, entry.end())


def _items(lines: str, outline: str, at: int) -> tuple[Json, int]:
    """Read the lines with a dash from an offset on, all indented alike; none of them means null."""
    items: list[Json] = []
    first = item = _ITEM.match(outline, at)
    while item is not None and first is not None and item["indent"] == first["indent"]:
        items.append(_scalar(_cut(lines, item, "value")))
        at = item.end()
        item = _ITEM.match(outline, at)
    return items or None, at


def _scalar(written: str) -> Json:
    return written[1:-1] if written[0] in "'\"" else meaning(written)
