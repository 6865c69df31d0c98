"""The abilities of a stream: its width, its colours, and the number of columns of a text."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.diagnostic import Severity
from stagec.core.value import value


@value
class Canvas:
    """How wide a stream is, whether it shows colours, and what it can write.

    `width` is in columns; None means that nobody looks at a terminal: sentences are then not wrapped.
    """

    width: int | None = None
    colour: bool = False
    encoding: str = "utf-8"


class Style(StrEnum):
    """The role of a piece of text, as the parameters of a terminal's colour sequence."""

    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    MESSAGE = "1"
    GUTTER = "34"
    HOLE = "36"
    ADDED = "32"
    REMOVED = "31"

    @classmethod
    def of(cls, severity: Severity) -> Style:
        """Return the style in which a severity and what it marks are shown."""
        return cls[severity.name]


@value
class Paint:
    """Applies styles, or leaves them out."""

    colour: bool

    def __call__(self, text: str, style: Style | None) -> str:
        """Return a text in a style, if it has one."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and text and style else text


def columns(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # most text is ASCII

    shown = (each for each in text if category(each) not in {"Mn", "Me"})
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in shown)


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
