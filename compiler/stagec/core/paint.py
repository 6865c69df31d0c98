"""Colours, where the stream shows any."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.diagnostic import Severity
from stagec.core.value import value


class Style(StrEnum):
    """What a piece of text is, as the parameters of a terminal's colour sequence."""

    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    MESSAGE = "1"
    GUTTER = "34"
    HOLE = "36"

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
