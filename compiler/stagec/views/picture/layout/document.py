"""Where everything of a drawing is: frames of boxes and labels, points of lines."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.diagnostic import Severity
from stagec.core.value import value
from stagec.views.picture.document import Fate

Point = tuple[float, float]
"""Pixels from the left and from the top."""


@value
class Frame:
    """A rectangle: its left upper corner and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Where it ends."""
        return self.y + self.height

    @property
    def middle(self) -> Point:
        """The point in its middle."""
        return self.x + self.width / 2, self.y + self.height / 2


@value
class Badge:
    """A row about findings, and their severity; None for the row that only counts the rest, and for a fate."""

    text: str
    severity: Severity | None
    fate: Fate | None = None


@value
class Face:
    """What is written on a box or a label, and how large it is: rows of text, a caption below, badges of findings.

    `changes` are further rows, of what differs.
    """

    width: float
    height: float
    rows: tuple[str, ...]
    caption: str = ""
    badges: tuple[Badge, ...] = ()
    changes: tuple[str, ...] = ()


@value
class Tag:
    """The label of a line and where it is; the line runs behind it."""

    frame: Frame
    face: Face


@value
class Route:
    """The way of a line from the border of its source to the border of its target.

    Where two points differ in both directions, the line bends from one to the other, leaving and coming vertically. A
    line that `merges` shares the end of its way with others, any other line the beginning, if it shares any of it.
    """

    points: tuple[Point, ...]
    tag: Tag | None = None
    merges: bool = True


@value
class Layout:
    """A picture with places: frames and faces of boxes by id, a route for each line in order, and the size of all."""

    frames: Mapping[str, Frame]
    faces: Mapping[str, Face]
    routes: tuple[Route, ...]
    width: float
    height: float
