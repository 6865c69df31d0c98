"""Where the frontmatter of a Markdown file begins and ends."""

from __future__ import annotations

import re

from stagec.core.value import value

_OPENING = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_CLOSING_AFTER_RETURN = re.compile(r"(?:(?<=\r)|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_KEY = re.compile(r"[ \t]*[\w.\"'-]+[ \t]*:(?:[ \t]|$)", re.MULTILINE)
_NEARLY = re.compile(r"^[ \t]*(?:-{2,}|\u2014+|\u2013+|\*{3,}|_{3,}|={3,}|---[^\r\n]*)[ \t]*$", re.MULTILINE)


@value
class Fenced:
    """Offsets of the YAML between the fences, end exclusive, and of the body below; `closed` when both fences stand."""

    start: int
    end: int
    body: int
    closed: bool = True


def split(text: str) -> Fenced | None:
    """Return where a text's frontmatter is, or nothing when it has none.

    A first line `---` that nothing closes opens a frontmatter only when the next line looks like a key.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None
    start = opening.end()
    closing = (_CLOSING_AFTER_RETURN if "\r" in text else _CLOSING).search(text, start)
    if closing is not None:
        return Fenced(start, closing.start(), closing.end())
    return Fenced(start, len(text), len(text), closed=False) if _KEY.match(text, start) else None


def nearly_closing(text: str, start: int) -> tuple[int, int] | None:
    """Return the first line behind an offset that looks like a closing fence and is none."""
    found = _NEARLY.search(text, start)
    return found.span() if found else None
