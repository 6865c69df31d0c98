"""Find input that is nested absurdly deep in one linear pass, before a parser sees it."""

from __future__ import annotations

import re

_ANCHOR = r"(?:\A|(?<=[:?-] )|(?<=:\n)|(?<=---\n))"
_KEY = r'(?:(?:"[^"\\\n]*"|[A-Za-z0-9_.-]+)[ ]*:[ ]*)?'
_CONFUSING = re.compile(r"[|>'\"#]")
"""After one of these, what looks like structure may be the text of a scalar or a comment."""

_STAIR = re.compile(r"^(?P<indent> *)(?:- +)*[^\s:#'\"|>\[\]{},-][^:#'\"|>\[\]{},\n]*:[ \t]*$")


def too_deep(text: str, limit: int) -> int | None:
    """Return where the text surely exceeds `limit` levels, or nothing: cases in doubt are left to the parser's count.

    Three forms are looked for: brackets one after another, dashes or question marks one after another, and lines of
    bare keys each further in than the one before.
    """
    inside = re.compile(rf"{_ANCHOR}(?P<run>(?:[\[{{]\s*{_KEY}){{{limit + 1}}}|(?:[?-] +){{{limit + 1}}})")
    found = inside.search(text)
    if found and not _CONFUSING.search(text, 0, found.start()):
        return found.start("run")
    return _stairs(text, limit)


def _stairs(text: str, limit: int) -> int | None:
    start = levels = 0
    before = -1
    for line in text.split("\n"):
        match = _STAIR.match(line)
        indent = len(match["indent"]) if match else -1
        if match is None and _CONFUSING.search(line):
            return None
        levels = levels + 1 if indent > before else int(match is not None)
        before = indent
        if levels > limit:
            return start + indent
        start += len(line) + 1
    return None
