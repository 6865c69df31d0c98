"""The positions of a drawing: frames of boxes and labels, points of lines."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from unicodedata import combining, east_asian_width

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.value import value
from stagec.core.words import visible
from stagec.views.picture.document import (
    SIGNS,
    Box,
    Fate,
    Line,
    Role,
    describe_fate,
    describe_labels,
    head_of,
    marks_of,
)

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
        """The right end."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower end."""
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
    """The text of a box or a label, and its size: rows of text, a caption below, badges of findings.

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
    """The label of a line and its place; the line is drawn behind it."""

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


COLUMN, SMALL_COLUMN = 7.3, 6.4
"""The widths of one character of a monospaced font of 12 and of 10.5 pixels."""
ROW, CAPTION_ROW, BADGE_ROW = 16.0, 14.0, 19.0
BAR = 6.0
"""The height of the bar at the top of what waits for others."""
_BADGE_PADDING = 10.0
_NAME_COLUMNS, _NAME_ROWS = 24, 3
_CAPTION_COLUMNS = 40
_CHANGE_COLUMNS, _CHANGES = 44, 3
_LABEL_COLUMNS, _LABEL_ROWS = 30, 3
_LABELS = 4
_BADGE_COLUMNS, _BADGES = 34, 3
_READ = 200
"""Characters of a name that are looked at: no more would ever be shown."""
_BREAK = re.compile(r"(?<=[\s./:_-])")
_ROLES = {
    Role.START: "start of a run",
    Role.DONE: "end of a run",
    Role.FAILED: "end of a run",
    Role.INTERRUPTED: "end of a run",
    Role.MISSING: "no such name",
    Role.EVERY: "fails alike",
    Role.CHOICE: "named by the answer",
}


def face_of_box(box: Box) -> Face:
    """Return the text of a box: its name, its kind, and the codes of its findings."""
    rows = tuple(wrap(_show(box.name) or _show(box.id), _NAME_COLUMNS, _NAME_ROWS))
    said = [_ROLES.get(box.role) or box.kind or ""]
    if box.role is Role.GROUP:
        said = [f"{len(box.members)} nodes in one"]
    said += ["waits for all"] if box.is_join else []
    said += [] if box.is_reached else ["never reached"]
    said += box.notes
    caption, badges = _clip(" · ".join(_show(each) for each in said if each), _CAPTION_COLUMNS), _badges(box.found)
    told = describe_fate(box.fate)
    badges = (*([Badge(told, None, box.fate)] if told else []), *badges)
    changes = tuple(_clip(_show(head_of(each)), _CHANGE_COLUMNS) for each in box.changes[:_CHANGES])
    changes += (f"and {len(box.changes) - _CHANGES} more",) * (len(box.changes) > _CHANGES)
    small = (columns(each) * SMALL_COLUMN for each in (caption, *changes))
    wide = max(*(columns(each) * COLUMN for each in rows), *small, *map(badge_width, badges), 0)
    height = 16 + BAR * box.is_join + ROW * len(rows) + BADGE_ROW * len(badges)
    height += CAPTION_ROW * (bool(caption) + len(changes))
    return Face(max(90.0, wide + 36), height, rows, caption, badges, changes)


def face_of_line(line: Line) -> Face | None:
    """Return the text of a line, or None if it has none."""
    badges, labels = _badges(line.found), [each for each in describe_labels(line) if each]
    shown = labels if len(labels) <= _LABELS else labels[: _LABELS - 1]
    rows = [row for each in shown for row in wrap(_show(each), _LABEL_COLUMNS, _LABEL_ROWS)]
    rows += [f"and {len(labels) - len(shown)} more"] if len(labels) > len(shown) else []
    rows += ["(probably meant)"] if line.is_guess else []
    if not rows and not badges:
        return None
    wide = max(*(columns(each) * SMALL_COLUMN for each in ("", *rows)), *map(badge_width, badges), 0)
    return Face(wide + 10, 4 + CAPTION_ROW * len(rows) + BADGE_ROW * len(badges), tuple(rows), "", badges)


def columns(text: str) -> int:
    """Return how many columns of a monospaced font a text takes."""
    return len(text) if text.isascii() else sum(_columns(each) for each in text)


def badge_width(badge: Badge) -> float:
    """Return the width of the badge that shows what was found."""
    return columns(badge.text) * SMALL_COLUMN + _BADGE_PADDING


def _columns(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in {"W", "F", "A"} else 1


def _show(text: str) -> str:
    return visible(text[:_READ]) + ("…" if len(text) > _READ else "")


def _badges(found: Iterable[Diagnostic]) -> tuple[Badge, ...]:
    marks = marks_of(found)
    left = len(marks) - _BADGES
    shown = marks if left <= 0 else marks[: _BADGES - 1]
    told = [(f"{SIGNS[mark.severity]} {mark.code} {_show(mark.name)}", mark.severity) for mark in shown]
    badges = [Badge(_clip(text, _BADGE_COLUMNS), severity) for text, severity in told]
    return (*badges, *([Badge(f"and {left + 1} more", None)] if left > 0 else []))


def _clip(text: str, most: int) -> str:
    if columns(text) <= most:
        return text
    kept, used = [], 1
    for character in text:
        used += _columns(character)
        if used > most:
            break
        kept.append(character)
    return "".join(kept) + "…"


def wrap(text: str, most: int, rows: int = sys.maxsize) -> Iterator[str]:
    """Yield the rows of a name, broken where its parts end as far as they are short enough."""
    row, left = "", deque[str]()
    for piece in _BREAK.split(text):
        step = most if piece.isascii() else most // 2  # one character may be two columns wide
        left.extend(piece[start : start + step] for start in range(0, len(piece), step))
    while left:
        if row and columns(row + left[0].rstrip()) > most:
            if rows == 1:
                yield _clip(row + "".join(left), most)
                return
            yield row.strip()
            row, rows = "", rows - 1
        row += left.popleft()
    yield row.strip()
