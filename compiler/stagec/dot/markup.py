"""Users' text in labels of Graphviz: short, on one line, and never markup, an entity or an escape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.words import visible
from stagec.picture.document import SIGNS, marks_of

_LONGEST = 96
_WIDEST = 36
_MOST, _MOST_LOCATED = 4, 8
_BREAK = re.compile(r"[._/-](?=[^\W_])")
_MARK = "\u200b"
"""Where a name may be broken; no visible text has it."""

COLOURS = {Severity.ERROR: "#b91c1c", Severity.WARNING: "#92400e", Severity.NOTE: "#374151"}


def show(text: str) -> str:
    """Return a text as markup that shows it: escaped, the middle of a long one left out."""
    return escape(shorten(text).strip()) or "(empty)"


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return a text as one visible line of bounded length, the middle of a long one left out."""
    if len(text) > longest:
        text = f"{text[: longest * 2 // 3]}…{text[-longest // 3 :]}"
    seen = visible(text)
    return seen if len(seen) <= 2 * longest else f"{seen[: longest * 2 // 3]}…{seen[-longest // 3 :]}"


def escape(text: str) -> str:
    """Return a text with everything escaped that markup gives a meaning."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def break_text(text: str, width: int = _WIDEST) -> list[str]:
    """Return the lines of a text, escaped; long words are broken, dotted names after a dot where that is enough."""
    pieces = _BREAK.sub(r"\g<0> " + _MARK, shorten(text))
    lines = wrap(pieces, width, break_on_hyphens=False) or ["(empty)"]
    return [escape(line.replace(f" {_MARK}", "").replace(_MARK, "")) for line in lines]


def rows(lines: Iterable[str], align: str = "center") -> str:
    """Return lines of markup as one label."""
    end = f'<br align="{align}"/>'
    return f"<{end.join(lines)}{end}>"


def small(text: str, colour: str | None = None) -> str:
    """Return markup in small type."""
    chosen = f' color="{colour}"' if colour else ""
    return f'<font point-size="10"{chosen}>{text}</font>'


def findings(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a line of markup for each of the heaviest findings, and one for the rest."""
    marks = marks_of(found)
    for mark in marks[:_MOST]:
        times = f" ({mark.times} times)" if mark.times > 1 else ""
        yield small(f"{SIGNS[mark.severity]} {mark.code} {show(mark.name)}{times}", COLOURS[mark.severity])
    if len(marks) > _MOST:
        yield small(f"… and {len(marks) - _MOST} more")


def locate(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yield a line of markup with the place of each of the heaviest findings, and one for the rest."""
    ranked = sorted(found, key=lambda each: -each.severity.weight)
    for each in ranked[:_MOST_LOCATED]:
        at = f"{each.at.file}:{each.span.start.line}:{each.span.start.column}"
        yield small(f"{SIGNS[each.severity]} {each.code} {show(each.name)}, {show(at)}", COLOURS[each.severity])
    if len(ranked) > _MOST_LOCATED:
        yield small(f"… and {len(ranked) - _MOST_LOCATED} more")
