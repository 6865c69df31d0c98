"""From containers and members to lines."""

from __future__ import annotations

from collections.abc import Iterable

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
class WrittenRow:
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

    rows: tuple[WrittenRow, ...]
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


_STEP = 2


def write_document(root: Container) -> list[str]:
    """Return the lines of a document."""
    return _write_brackets(root, 0, 0) if root.brackets else _write_block(root, 0)


def _write_block(block: Container, column: int) -> list[str]:
    lines = _indent(block.header, column)
    is_apart = False
    for row in block.rows:
        lines += _indent(row.lead if is_apart else _without_blanks_above(row.lead), column)
        lines += _write_row(row, column)
        is_apart = not _keeps_end(row)
    return lines + _indent(block.tail if is_apart else _without_blanks_above(block.tail), column)


def _keeps_end(row: WrittenRow) -> bool:
    """Tell whether a member ends with a text to which a blank line below it would belong."""
    while isinstance(row.value, Container) and not (row.value.brackets or row.value.tail):
        row = row.value.rows[-1]
    return isinstance(row.value, Snippet) and row.value.keeps_end


def _write_row(row: WrittenRow, column: int) -> list[str]:
    start = " " * column + ("-" if row.key is None else f"{row.key}:")
    if isinstance(row.value, Snippet) or row.value.brackets:
        return _write_flow_row(row, start, column)
    block = row.value
    start += f" {block.properties}" if block.properties else ""
    lines = _write_block(block, column + _STEP)
    is_compact = row.key is None and not (
        row.below or row.head or block.properties or block.header or any(block.rows[0].lead)
    )
    if is_compact:
        return [f"{start} {lines[0][column + _STEP :]}", *lines[1:]]
    return [start + row.head, *lines]


def _write_flow_row(row: WrittenRow, start: str, column: int) -> list[str]:
    """Return the lines of a member whose value is a scalar or stands in brackets."""
    above: list[str] = []
    if row.below:
        above = [start + row.head, *_indent(row.between, column + _STEP)]
        start = " " * (column + _STEP - 1)
    lines, trail = _write_value(row, column, column + _STEP, len(start) + 1)
    lines[0] = f"{start} {lines[0]}" if lines[0] else start
    lines[-1] += trail
    return above + lines


def _write_value(row: WrittenRow, column: int, closing: int, taken: int) -> tuple[list[str], str]:
    """Return the lines of a scalar or of brackets, and the comment behind them."""
    if isinstance(row.value, Snippet):
        return [row.value.first, *_indent(row.value.rest, column + row.value.indent)], row.trail
    lines = _write_brackets(row.value, closing, taken)
    if len(lines) == 1 or row.value.spans_lines:
        return lines, row.trail
    return [lines[0] + row.trail, *lines[1:]], ""  # it stood beside the opening bracket


def _write_brackets(brackets: Container, column: int, taken: int) -> list[str]:
    """Return the lines of a container in brackets, the first without indentation.

    `column` is that of the closing bracket, `taken` how many columns there are before the opening one.
    """
    start = f"{brackets.properties} " if brackets.properties else ""
    if brackets.inline is not None and taken + len(start) + len(brackets.inline) <= WIDTH:
        return [start + brackets.inline]
    lines = [f"{start}{brackets.brackets[0]}{brackets.head}"]
    for number, row in enumerate(brackets.rows):
        is_last = number + 1 == len(brackets.rows)
        lead = _without_blanks_above(row.lead) if not number else row.lead
        lines += _indent(lead, column + _STEP)
        lines += _write_item(row, column + _STEP, "" if is_last and not brackets.ends_with_comma else ",")
    return [*lines, *_indent(brackets.tail, column + _STEP), " " * column + brackets.brackets[1]]


def _write_item(row: WrittenRow, column: int, comma: str) -> list[str]:
    start = " " * column + ("" if row.key is None else f"{row.key}: ")
    lines, trail = _write_value(row, column, column, len(start))
    lines[0] = f"{start}{lines[0]}" if lines[0] else start.removesuffix(": ")
    lines[-1] += comma + trail
    return lines


def _indent(lines: Iterable[str], column: int) -> list[str]:
    return [" " * column + line if line else "" for line in lines]


def _without_blanks_above(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines[1:] if lines and not lines[0] else lines
