"""How many columns of a terminal a text takes, and sentences broken to fit."""

from __future__ import annotations


def columns(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def wrap(text: str, room: int, taken: int = 0) -> list[str]:
    """Break a sentence into lines of at most `room` columns, the first shorter by `taken`; long words stay whole."""
    lines = [""]
    used = taken
    for word in text.split(" "):
        width = columns(word)
        if lines[-1] and used + width > room and not word.startswith("::"):  # build services obey `::` there
            lines.append("")
            used = 0
        lines[-1] += f" {word}" if lines[-1] else word
        used += width + 1
    return lines


def _columns(character: str) -> int:
    import unicodedata  # most text is ASCII

    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
