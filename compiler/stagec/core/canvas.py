"""What the stream that something is written to can show."""

from __future__ import annotations

from stagec.core.value import value


@value
class Canvas:
    """How wide a stream is, whether it shows colours, and what it can write.

    `width` is in columns; None means that nobody looks at a terminal: sentences are then not wrapped.
    """

    width: int | None = None
    colour: bool = False
    encoding: str = "utf-8"
