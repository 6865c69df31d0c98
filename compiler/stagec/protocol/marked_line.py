"""A marker in a log: the file, the running stage, and the parts of which it consists with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from stagec.core.place import Place
from stagec.core.value import value
from stagec.protocol.markers import CHECKPOINT_SUBTYPES, STAGE_SUBTYPES, BrokenMarker, Marker

SUBTYPES = {"STAGE": STAGE_SUBTYPES, "CHECKPOINT": CHECKPOINT_SUBTYPES, "REHYDRATED": ()}
"""The subtypes of the types that stagec itself writes; other types may have any."""


@value
class MarkerPart:
    """What stands between two colons of a marker: `name=text`, or a text alone, which then is the name.

    `start` counts characters of what is written in the marker. A part `continues` the value before it if that has most
    likely been cut in two by a colon of its own.
    """

    name: str
    text: str | None
    start: int
    end: int
    continues: bool


@value
class MarkedLine:
    """One line of a log with a marker in it.

    `stage` is the stage that runs while the log is written, if that is known. `is_first` tells whether no line before
    had a marker of the same type.
    """

    file: str
    marker: Marker | BrokenMarker
    stage: str | None = None
    is_first: bool = True

    @property
    def at(self) -> Place:
        """The place of the whole marker, without its content."""
        marker = self.marker
        inside = marker.text if isinstance(marker, BrokenMarker) else f"[{marker.type}:{marker.written}]"
        return self._place(0, len(inside) - (isinstance(marker, Marker) and not marker.written))

    @property
    def parts(self) -> tuple[MarkerPart, ...]:
        """What is written in the marker, in order; nothing in a citation."""
        marker = self.marker
        return _split_parts(marker.type, marker.written) if isinstance(marker, Marker) else ()

    def marker_of(self, kind: str, *subtypes: str) -> Marker | None:
        """Return the marker if it is of one type, and of one of some subtypes where there are any."""
        marker = self.marker
        if isinstance(marker, BrokenMarker) or marker.type != kind:
            return None
        return marker if not subtypes or marker.subtype in subtypes else None

    def find(self, name: str) -> Place:
        """Return the place of the attribute that counts of those with a name, or of the marker if there is none."""
        found = [each for each in self.parts if each.name == name]
        return self.place(found[-1]) if found else self.at

    def place(self, first: MarkerPart, last: MarkerPart | None = None) -> Place:
        """Return the place of a part, or from one to another."""
        head = len(f"[{self.marker.type}:")
        return self._place(head + first.start, head + (last or first).end)

    def _place(self, start: int, end: int) -> Place:
        """Return a stretch of the marker: a log is the list of its lines, and a range counts in its line."""
        indent = self.marker.column - 1
        return Place(self.file, (self.marker.line - 1,), range=(indent + start, indent + end))


_NAME = re.compile(r"[\w.-]+")
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_PROSE = frozenset({"msg", "message", "text"})
"""Attributes whose values are sentences."""


@lru_cache(maxsize=1)
def _split_parts(kind: str, written: str) -> tuple[MarkerPart, ...]:
    return () if kind == "CITATION" or not written else tuple(_list_parts(kind, written.split(":")))


def _list_parts(kind: str, parts: list[str]) -> Iterator[MarkerPart]:
    start, has_subtype, is_cut = 0, False, False
    before: MarkerPart | None = None
    for index, part in enumerate(parts):
        name, equals, text = part.partition("=")
        subtype = part.replace("-", "_")
        is_subtype = not equals and not has_subtype and subtype in SUBTYPES.get(kind, (subtype,))
        is_last_and_empty = not part and index == len(parts) - 1
        is_cut = not is_subtype and not is_last_and_empty and _is_rest(part, before, is_cut=is_cut)
        has_subtype = has_subtype or is_subtype
        found = MarkerPart(name, text if equals else None, start, start + len(part), is_cut)
        before = before if is_cut else found if equals else None
        yield found
        start += len(part) + 1


def _is_rest(part: str, before: MarkerPart | None, *, is_cut: bool) -> bool:
    """Tell whether a part looks less like one of its own than like the rest of the value before it."""
    name, equals, _ = part.partition("=")
    if before is None or equals:
        return before is not None and _NAME.fullmatch(name) is None
    return is_cut or _WORD.fullmatch(part) is None or before.name in _PROSE or " " in (before.text or "")
