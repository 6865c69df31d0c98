"""Find the markers that git leaves in a text where it could not merge two changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stagec.core.place import Place
from stagec.sources.tree import Fault

TOPIC = "conflict-markers"
_BEGIN, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_LINE = re.compile(
    r"^(?:(?P<mark><{7}|\|{7}|={7}|>{7})(?P<label> [^\r\n]*)?|[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*))\r?$",
    re.MULTILINE,
)
"""A line that is a marker, or a fence around a code block of Markdown."""
_OF_EDITS = frozenset({" SEARCH", " ORIGINAL"})
"""What stands behind the first marker in edits that models are asked to write in this form; git names a revision."""
_MOST = 20
"""Other markers that are shown with the first one."""

Span = tuple[int, int]
"""Where a marker is: offsets of its characters, end exclusive."""


def find_conflict(file: str, text: str, *, is_prose: bool) -> Fault | None:
    """Return the fault of a text with conflicts, at the first marker; the others are related.

    Only all markers of a conflict in their order count. In prose, the examples in code blocks between fences do not.
    """
    if _BEGIN not in text or _END not in text:
        return None
    found = list(_list_conflicts(text, is_prose=is_prose))
    if not found:
        return None
    first, *others = (Place(file, range=span) for conflict in found for span in conflict)
    related = tuple((place, text[slice(*place.range)] if place.range else "") for place in others[:_MOST])
    return Fault(TOPIC, first, facts={"count": len(found)}, related=related)


def _list_conflicts(text: str, *, is_prose: bool) -> Iterator[list[Span]]:
    """Yield the spans of the markers of each conflict.

    Both sides of a conflict may have a fence: only the first side says whether the text below is in a code block.
    """
    fence = ""
    marks: list[str] = []
    spans: list[Span] = []
    for line in _LINE.finditer(text):
        mark = line["mark"]
        if mark is None:
            fence = _move(fence, line["fence"], line["info"]) if is_prose and marks in ([], [_BEGIN]) else fence
        elif mark == _BEGIN:
            is_one = (marks or not fence) and line["label"] not in _OF_EDITS
            marks, spans = ([mark], [line.span("mark")]) if is_one else ([], [])
        elif marks in _BEFORE[mark]:
            if mark == _MIDDLE and line["label"]:
                continue
            marks, spans = [*marks, mark], [*spans, line.span("mark")]
            if mark == _END:
                yield spans
                marks, spans = [], []
        elif mark == _END:
            marks, spans = [], []


_BEFORE = {
    _BASE: ([_BEGIN],),
    _MIDDLE: ([_BEGIN], [_BEGIN, _BASE]),
    _END: ([_BEGIN, _MIDDLE], [_BEGIN, _BASE, _MIDDLE]),
}
"""The markers that a conflict has before each of its others."""


def _move(fence: str, found: str, info: str) -> str:
    """Return the fence of the code block that the text below a fence is in, the empty text if it is in none."""
    if not fence:
        return "" if found[0] == "`" and "`" in info else found
    closes = found[0] == fence[0] and len(found) >= len(fence) and not info.strip()
    return "" if closes else fence
