"""Which part of a long line is shown."""

from __future__ import annotations

from collections.abc import Sequence

from stagec.core.columns import columns
from stagec.core.value import value
from stagec.core.visible import ellipsis, visible_characters

_TAB = 4


@value
class Cut:
    """What is shown of a source line, and where in it the marked part begins and how wide it is, in columns."""

    text: str
    offset: int
    width: int


def cut(line: str, marked: tuple[int, int], room: int, encoding: str) -> Cut:
    """Return the part of a line around its marked characters that fits into `room` columns.

    `marked` counts characters of the line from zero, end exclusive. Takes time for what is shown, not for the line.
    """
    start, end = min(marked[0], len(line)), min(marked[1], len(line))
    low, high = max(0, start - room), min(len(line), start + room)
    part = line[low:high]
    cells = list(part) if _is_plain(part) else _cells(part, encoding)
    widths = [1] * len(cells) if _is_plain(part) else [columns(cell) for cell in cells]
    sign = ellipsis(encoding)
    fits = high - low == len(line) and sum(widths) <= room
    signs = 2 * len(sign)
    first, last = (0, len(widths)) if fits else _window(widths, (start - low, end - low), room - signs)
    before = sign if low or first else ""
    after = sign if last < len(cells) or high < len(line) else ""
    text = before + "".join(cells[first:last]) + after
    offset = len(before) + sum(widths[first : start - low])
    return Cut(text, offset, max(1, sum(widths[start - low : min(end - low, last)])))


def _window(widths: Sequence[int], marked: tuple[int, int], room: int) -> tuple[int, int]:
    """Choose which cells to show: from the first if the mark fits, else some before it, and as many as fit behind."""
    start, end = marked
    lead = room if sum(widths[:end]) <= room else room // 3
    if widths.count(1) == len(widths):  # nothing wide or combining: counting cell by cell would only take longer
        first = max(0, start - max(0, lead))
        return first, min(len(widths), first + max(0, room))
    first = start
    while first and (lead := lead - widths[first - 1]) >= 0:
        first -= 1
    last = first
    while last < len(widths) and (room := room - widths[last]) >= 0:
        last += 1
    return first, last


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and "##" not in text


def _cells(text: str, encoding: str) -> list[str]:
    cells = visible_characters(text, encoding)
    if "\t" in text:
        column = 0
        for index, character in enumerate(text):
            if character == "\t":
                cells[index] = " " * (_TAB - column % _TAB)
            column += columns(cells[index])
    return cells
