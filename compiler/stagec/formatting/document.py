"""What a text consists of for whoever lays it out: members with their comments, and each scalar as written."""

from __future__ import annotations

from stagec.core.value import value

WIDTH = 120
"""Columns that a list or an object on one line may take."""


@value
class Snippet:
    """A scalar or an alias as written: its first line, and those below without their indentation.

    `indent` is how much further in than its member the lines below stand; blank lines below are a part of a text that
    `keeps_end`.
    """

    first: str = ""
    rest: tuple[str, ...] = ()
    indent: int = 2
    keeps_end: bool = False


@value
class Row:
    """A member of a container, in a mapping with the text of its key.

    `lead` are the lines of comments above it, `head` is the comment behind its key or dash, `between` the comments
    above a value that stands `below` its key or dash, `trail` is the comment at its end. A blank line is an empty text.
    """

    value: Snippet | Container
    key: str | None = None
    name: str | None = None
    lead: tuple[str, ...] = ()
    head: str = ""
    between: tuple[str, ...] = ()
    below: bool = False
    trail: str = ""


@value
class Container:
    """A mapping or sequence, in `brackets` or in lines of its own.

    `header` are the comments at its top that stand apart from the first member, `tail` those behind the last.
    `properties` are its anchor and tag, `head` is the comment behind its opening bracket. `ends_with_comma` tells
    whether a comma follows the last member, `spans_lines` whether it took several as written. `inline` is all of it on
    one line, None where it has to take several.
    """

    rows: tuple[Row, ...]
    brackets: str = ""
    header: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    properties: str = ""
    head: str = ""
    ends_with_comma: bool = False
    spans_lines: bool = False
    inline: str | None = None


def join_rows(container: Container, *, is_padded: bool) -> str | None:
    """Return a container in brackets as one line, None if it would be too long or something in it takes several."""
    parts: list[str] = []
    left = WIDTH
    for row in container.rows:
        text = row.value.inline if isinstance(row.value, Container) else row.value.first
        if text is None or row.trail or any(row.lead) or (isinstance(row.value, Snippet) and row.value.rest):
            return None
        if isinstance(row.value, Container) and row.value.properties:
            text = f"{row.value.properties} {text}"
        parts.append(text if row.key is None else f"{row.key}: {text}" if text else row.key)
        left -= len(parts[-1])
        if left < 0:
            return None
    inside = ", ".join(parts) + ("," if container.ends_with_comma else "")
    pad = " " if is_padded and parts else ""
    return f"{container.brackets[0]}{pad}{inside}{pad}{container.brackets[1]}"
