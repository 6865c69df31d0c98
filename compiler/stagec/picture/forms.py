"""Which form each kind of node has: the same in every format and in every drawing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.picture.document import Picture, Role


class Form(StrEnum):
    """The outline of a node."""

    PLAIN = "plain"
    """Of nodes that have no kind."""
    ROUNDED = "rounded"
    HEXAGON = "hexagon"
    DOUBLE_OCTAGON = "double octagon"
    SLANTED = "slanted"
    BARS = "bars"
    HOUSE = "house"


_KNOWN: Mapping[str, Form] = {
    "work": Form.ROUNDED,
    "verification": Form.HEXAGON,
    "closure": Form.DOUBLE_OCTAGON,
}
_OTHERS = (Form.SLANTED, Form.BARS, Form.HOUSE)
"""Forms of all other kinds, in the order of their names."""


def forms_of(pictures: Iterable[Picture]) -> Mapping[str, Form]:
    """Return the form of each kind of node in drawings, whatever the order in which they come."""
    boxes = (box for picture in pictures for box in picture.boxes.values())
    kinds = {box.kind for box in boxes if box.kind is not None and box.role is Role.NODE}
    others = sorted(kinds - _KNOWN.keys())
    known = {kind: form for kind, form in _KNOWN.items() if kind in kinds}
    return known | {kind: _OTHERS[at % len(_OTHERS)] for at, kind in enumerate(others)}
