"""Edits of prose: texts in place of stretches, as they are."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.diagnostic import Change, Edit


def write_stretches(text: str, edits: Iterable[Edit], start: int = 0) -> str:
    """Return a text with other texts in place of stretches behind an offset; raises ValueError if two overlap."""
    ranges = {edit.at.range: str(edit.value) for edit in edits if edit.change is Change.WRITE and edit.at.range}
    parts: list[str] = []
    position = start
    for (begin, end), new in sorted(ranges.items()):
        if not position <= begin <= end <= len(text):
            raise ValueError(f"there is no stretch from {begin} to {end}")
        parts += (text[position:begin], new)
        position = end
    return "".join((text[:start], *parts, text[position:]))
