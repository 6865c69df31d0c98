"""Shelf: one module per format a drawing can be written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stagec.core.value import value
from stagec.views.picture.document import (
    FATE_SIGNS,
    SIGNS,
    Area,
    Box,
    Fate,
    Form,
    Line,
    Picture,
    Role,
    Stroke,
    arrange,
    describe_fate,
    describe_labels,
    forms_of,
    head_of,
    list_fates,
    marks_of,
)
from stagec.views.picture.draw import Edges, Limit

__all__ = [
    "FATE_SIGNS",
    "SIGNS",
    "Area",
    "Box",
    "Edges",
    "Emitter",
    "Fate",
    "Form",
    "Limit",
    "Line",
    "Picture",
    "Role",
    "Stroke",
    "arrange",
    "describe_box",
    "describe_change",
    "describe_fate",
    "describe_labels",
    "forms_of",
    "head_of",
    "list_fates",
    "marks_of",
]


@value
class Emitter:
    """A format: its name, the suffix of its files, and how pictures are written in it.

    `emit(pictures)` returns the whole file; `is_text` tells whether it may go to a terminal. Drawings with more than
    one of the `limits` allows are collapsed before they are written. `edges` selects the drawing of common failures by
    default: output for programs has all of them.
    """

    name: str
    suffix: str
    is_text: bool
    emit: Callable[[tuple[Picture, ...]], bytes]
    limits: tuple[Limit, ...] = ()
    edges: Edges = Edges.ONCE


def describe_box(box: Box) -> dict[str, Any]:
    """Return the members of a box that formats for programs have in common."""
    return {
        "id": box.id,
        "name": box.name,
        "role": box.role,
        "kind": box.kind,
        "reached": box.is_reached,
        "join": box.is_join,
        "members": box.members,
        "notes": box.notes,
    }


def describe_change(given: Box | Line | Picture) -> dict[str, Any]:
    """Return the members about a change in formats for programs; none without a comparison."""
    if given.fate is None:
        return {}
    return {"fate": given.fate, **({"before": given.before} if isinstance(given, Line) else {"changes": given.changes})}
