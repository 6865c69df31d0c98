"""How boxes and lines look: distinguished by shape and stroke, in colours that are readable on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.diagnostic import Severity
from stagec.picture.document import Box, Fate, Form, Line, Picture, Role, Stroke
from stagec.picture.palette import INK, TINTS

Look = Mapping[str, str]
"""Attributes of a node or edge by name."""

PAGE = "#ffffff"
RED = "#b91c1c"
_AMBER = "#b45309"

_ROLES: Mapping[Role, Look] = {
    Role.NODE: {"shape": "box", "fillcolor": TINTS[Form.PLAIN].fill, "color": TINTS[Form.PLAIN].edge},
    Role.START: {"shape": "cds", "fillcolor": "#14532d", "color": "#14532d", "fontcolor": "#ffffff"},
    Role.DONE: {"shape": "oval", "peripheries": "2", "fillcolor": "#bbf7d0", "color": "#166534"},
    Role.FAILED: {"shape": "octagon", "fillcolor": "#fde68a", "color": "#92400e"},
    Role.INTERRUPTED: {"shape": "octagon", "fillcolor": "#fef3c7", "color": "#92400e"},
    Role.MISSING: {"shape": "note", "fillcolor": "#fee2e2", "color": RED, "fontcolor": RED, "style": "filled,dashed"},
    Role.GROUP: {"shape": "tab", "fillcolor": "#e5e7eb", "color": "#4b5563"},
    Role.EVERY: {"shape": "folder", "fillcolor": "#f3f4f6", "color": "#4b5563"},
    Role.CHOICE: {"shape": "rarrow", "fillcolor": "#ffffff", "color": "#4b5563"},
}

_FORMS: Mapping[Form, Look] = {
    Form.PLAIN: {},
    Form.ROUNDED: {"shape": "box", "style": "filled,rounded"},
    Form.HEXAGON: {"shape": "hexagon"},
    Form.DOUBLE_OCTAGON: {"shape": "doubleoctagon"},
    Form.SLANTED: {"shape": "parallelogram"},
    Form.BARS: {"shape": "component"},
    Form.HOUSE: {"shape": "house"},
}
_JOIN: Look = {"shape": "invtrapezium"}

_STROKES: Mapping[Stroke, Look] = {
    Stroke.ENTRY: {"color": "#14532d", "penwidth": "3", "arrowhead": "normal"},
    Stroke.GO: {"color": "#374151", "arrowhead": "normal"},
    Stroke.FORK: {"color": "#1d4ed8", "penwidth": "2", "arrowhead": "normal", "arrowtail": "odiamond", "dir": "both"},
    Stroke.CHAIN: {"color": "#6d28d9", "penwidth": "2", "arrowhead": "normalnormal"},
    Stroke.JOIN: {"color": "#1d4ed8", "style": "dashed", "arrowhead": "odiamond"},
    Stroke.END: {"color": "#6b7280", "arrowhead": "empty"},
}

_FATES: Mapping[Fate, Look] = {
    Fate.SAME: {"color": "#6b7280", "fillcolor": "#f9fafb"},
    Fate.ADDED: {"color": "#00704a", "fillcolor": "#d6f5e3", "penwidth": "3.5"},
    Fate.REMOVED: {"color": "#b33a00", "fillcolor": "#fdece2", "penwidth": "1.5"},
    Fate.CHANGED: {"color": "#1d4ed8", "fillcolor": "#dfe9ff", "penwidth": "2.5"},
}
_BORDERS = {Fate.REMOVED: "dashed", Fate.CHANGED: "dotted"}

MEANINGS: Mapping[Stroke, str] = {
    Stroke.ENTRY: "a run starts",
    Stroke.GO: "continues",
    Stroke.FORK: "together with others",
    Stroke.CHAIN: "one after the other",
    Stroke.JOIN: "when all have ended",
    Stroke.END: "ends",
}


def look_of_box(box: Box, forms: Mapping[str, Form]) -> dict[str, str]:
    """Return how a box looks, given the forms of all kinds."""
    look = dict(_ROLES[box.role])
    if box.role is Role.NODE and box.kind is not None:
        form = forms.get(box.kind, Form.PLAIN)
        look |= {"fillcolor": TINTS[form].fill, "color": TINTS[form].edge, **_FORMS[form]}
    if box.is_join:
        look |= _JOIN
    if box.fate is not None:
        borders = [look.get("style", "filled").removesuffix(",dashed"), *filter(None, (_BORDERS.get(box.fate),))]
        return look | {**_FATES[box.fate], "fontcolor": INK, "style": ",".join(borders)}
    worst = max((each.severity.weight for each in box.found), default=0)
    if worst < Severity.WARNING.weight:
        trouble = {}
    else:
        trouble = {"color": RED if worst == Severity.ERROR.weight else _AMBER, "penwidth": "3"}
    look |= trouble
    if box.is_reached:
        return look
    style = "filled,rounded,dashed" if "rounded" in look.get("style", "") else "filled,dashed"
    return look | {"style": style, "color": RED, "fillcolor": "#fee2e2", "penwidth": "2"}


def look_of_line(line: Line, picture: Picture) -> dict[str, str]:
    """Return how a line looks in its drawing."""
    look = dict(_STROKES[line.stroke])
    if line.fate is not None:
        style = _BORDERS.get(line.fate, "dotted" if line.is_guess else look.get("style", ""))
        own = {name: told for name, told in _FATES[line.fate].items() if name != "fillcolor"}
        return look | own | ({"style": style} if style else {})
    if line.is_guess:
        return look | {"style": "dotted", "color": "#6b7280"}
    source, target = picture.boxes[line.source], picture.boxes[line.target]
    if not source.is_reached or target.role is Role.MISSING:
        return look | {"style": "dashed", "color": RED}
    worst = max((each.severity.weight for each in line.found), default=0)
    return look | ({"color": RED if worst == Severity.ERROR.weight else _AMBER} if worst > 1 else {})


def ink(look: Look) -> str:
    """Return the colour of text in a box."""
    return look.get("fontcolor", INK)
