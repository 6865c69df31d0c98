"""Write values as JSON in the manner of their surroundings."""

from __future__ import annotations

import re

from stagec.core.json import Json
from stagec.core.value import value
from stagec.sources.formats.json.outline import Node

_INDENT = re.compile(r"[ \t]*")


@value
class Style:
    """How the members of one container are set apart: the white space between two of them and after a colon.

    `unit` is what one level of indentation adds; `newline` is empty where everything stands on one line.
    """

    between: str
    colon: str
    newline: str
    indent: str
    unit: str


def style_of(text: str, node: Node) -> Style:
    """Return the style in which the members of a container are written."""
    between = _between(text, node)
    compact = _compact(text)
    newline = "\r\n" if "\r\n" in between else between[:1] if between[:1] in {"\n", "\r"} else ""
    indent = between.rpartition(newline)[2] if newline else ""
    outer = _line_indent(text, node.start)
    unit = indent[len(outer) :] if indent.startswith(outer) and indent != outer else "  "
    colon = _colon(text, node) or ("" if compact else " ")
    if not between and len(node.children) < _SEVERAL and not compact:
        between = " "
    return Style(between, "" if compact else colon, newline, indent, unit)


def render(given: Json, style: Style) -> str:
    """Return a value as text, over several lines where its neighbours are."""
    from json import dumps

    if not style.newline or not isinstance(given, (dict, list, tuple)):
        separators = ("," + (" " if style.colon else ""), ":" + (" " if style.colon else ""))
        return dumps(given, ensure_ascii=False, separators=separators)
    pretty = dumps(given, ensure_ascii=False, indent=style.unit or None)
    return pretty.replace("\n", style.newline + style.indent)


_SEVERAL = 2


def _between(text: str, node: Node) -> str:
    """Return the white space before the last member, which a new one is to have as well."""
    if not node.children:
        return ""
    last = node.children[-1].begin
    space = text[node.start + 1 : last]
    return space[len(space.rstrip()) :]


def _compact(text: str) -> bool:
    """Tell whether a text shows commas or colons and no white space after any."""
    spaced = any(each in text for each in ("\n", "\r", ", ", '": '))
    return not spaced and ("," in text or '":' in text)


def _colon(text: str, node: Node) -> str:
    for child in node.children[-1:]:
        if child.key:
            return text[child.key[1] : child.start].partition(":")[2]
    return ""


def _line_indent(text: str, position: int) -> str:
    start = max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1
    match = _INDENT.match(text, start)
    return match[0] if match else ""
