"""What every format shows alike: the form of each kind of node, and the signs of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.value import value
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


SIGNS: Mapping[Severity, str] = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.NOTE: "·"}
"""What stands before a finding, so that its weight is not told by colour alone."""


@value
class Mark:
    """Findings of one rule and one severity."""

    severity: Severity
    code: str
    name: str
    times: int


def marks_of(found: Iterable[Diagnostic]) -> list[Mark]:
    """Return what is said of diagnostics."""
    counts: dict[tuple[str, str, Severity], int] = {}
    for each in found:
        key = each.code, each.name, each.severity
        counts[key] = counts.get(key, 0) + 1
    marks = [Mark(severity, code, name, times) for (code, name, severity), times in counts.items()]
    return sorted(marks, key=lambda mark: (-mark.severity.weight, mark.code))
