"""Outlines of boxes, as markup that is escaped by construction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NewType

from stagec.views.picture.document import FATE_SIGNS, Box, Form, Picture, Role
from stagec.views.picture.layout.lettering import BAR

Markup = NewType("Markup", str)


def text(given: str) -> Markup:
    """Return a text as markup that shows it."""
    return Markup(escape(given))


def element(name: str, attributes: Mapping[str, str | float], *inner: Markup) -> Markup:
    """Return an element; coordinates are written in tenths."""
    told = "".join([f' {key}="{_attribute(each)}"' for key, each in attributes.items()])
    return Markup(f"<{name}{told}>{''.join(inner)}</{name}>")


def _attribute(given: str | float) -> str:
    return escape(given) if isinstance(given, str) else f"{given:.1f}".removesuffix(".0")


_SLANT = 11.0
_ROLES = {
    Role.START: "pill",
    Role.DONE: "ring",
    Role.FAILED: "octagon",
    Role.INTERRUPTED: "funnel",
    Role.MISSING: "note",
    Role.GROUP: "stack",
    Role.EVERY: "card",
    Role.CHOICE: "signpost",
}
_DOUBLE = {"ring": "ring", Form.DOUBLE_OCTAGON: "octagon"}
"""Outlines with another one inside."""
_ROUND = {"pill", "ring", Form.ROUNDED}
_CORNERS = {
    Form.HEXAGON: "Lt Rt rm Rb Lb lm",
    Form.DOUBLE_OCTAGON: "Lt Rt rT rB Rb Lb lB lT",
    Form.SLANTED: "Lt rt Rb lb",
    Form.HOUSE: "lT mt rT rb lb",
    "octagon": "Lt Rt rT rB Rb Lb lB lT",
    "funnel": "lt rt Rb Lb",
    "note": "lt Rt rT rb lb",
    "card": "Lt rt rb lb lT",
    "signpost": "lt Rt rm Rb lb Lm",
}
"""The corners of outlines, clockwise: l left, r right, t top, b bottom, m middle, capital letters a little inside."""


_UPPER: Mapping[str, tuple[float, float, float]] = {
    Form.ROUNDED: (0.3, 0.3, 0.0),
    Form.HEXAGON: (1.0, 1.0, 0.0),
    Form.DOUBLE_OCTAGON: (1.0, 1.0, 0.0),
    Form.SLANTED: (1.0, 0.0, 0.0),
    Form.HOUSE: (0.0, 0.0, 1.0),
}
"""How far from the left, the right and the top an outline is as wide as its box at the top, in slants."""


def outline_of(box: Box, forms: Mapping[str, Form]) -> str:
    """Return the name of the outline of a box, given the forms of all kinds."""
    return _ROLES.get(box.role) or forms.get(box.kind or "", Form.PLAIN)


def classes_of(box: Box, outline: str) -> tuple[str, ...]:
    """Return the classes of the styles of a box: what it stands for, and the form of its kind."""
    own = ("box", box.role.value)
    return (*own, f"form-{outline.replace(' ', '-')}") if box.role is Role.NODE else own


def shape(outline: str, width: float, height: float) -> Markup:
    """Return the shape of a box whose left upper corner is at zero."""
    inner = ""
    if outline in _DOUBLE:
        inner = _path(_DOUBLE[outline], 4, 4, width - 4, height - 4)
    if outline == Form.BARS:
        inner = f"M6 0V{height:.1f}M{width - 6:.1f} 0V{height:.1f}"
    back = element("path", {"class": "shape", "d": _path("plain", 6, -5, width + 6, height - 5)})
    main = element("path", {"class": "shape", "d": _path(outline, 0, 0, width, height)})
    more = element("path", {"class": "inner", "d": inner})
    return Markup((back if outline == "stack" else "") + main + (more if inner else ""))


def bar(outline: str, width: float, height: float) -> Markup:
    """Return the bar at the top of a box that waits for others, within its outline."""
    left, right, top = (each * _slant(height) for each in _UPPER.get(outline, (0.0, 0.0, 0.0)))
    return element("rect", {"class": "bar", "x": left, "y": top, "width": width - left - right, "height": BAR})


def _path(outline: str, left: float, top: float, right: float, bottom: float) -> str:
    if outline in _ROUND:
        return _round(left, top, right, bottom, 9 if outline == Form.ROUNDED else (bottom - top) / 2)
    slant = _slant(bottom - top)
    horizontal = {"l": left, "L": left + slant, "m": (left + right) / 2, "R": right - slant, "r": right}
    vertical = {"t": top, "T": top + slant, "m": (top + bottom) / 2, "B": bottom - slant, "b": bottom}
    corners = _CORNERS.get(outline, "lt rt rb lb").split()
    return "M" + "L".join(f"{horizontal[each[0]]:.1f} {vertical[each[1]]:.1f}" for each in corners) + "Z"


def _slant(height: float) -> float:
    return min(_SLANT, height / 3)


def _round(left: float, top: float, right: float, bottom: float, radius: float) -> str:
    radius = min(radius, (bottom - top) / 2, (right - left) / 2)
    arc = f"A{radius:.1f} {radius:.1f} 0 0 1"
    return (
        f"M{left + radius:.1f} {top:.1f}H{right - radius:.1f}{arc} {right:.1f} {top + radius:.1f}"
        f"V{bottom - radius:.1f}{arc} {right - radius:.1f} {bottom:.1f}"
        f"H{left + radius:.1f}{arc} {left:.1f} {bottom - radius:.1f}"
        f"V{top + radius:.1f}{arc} {left + radius:.1f} {top:.1f}Z"
    )


_VARIABLE = re.compile(r"(--[\w-]+): ([^;]+);")
_ROOT = re.compile(r":root \{[^}]*\}\n")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\n.*?\n\}\n", re.DOTALL)


def read_style(pictures: Iterable[Picture] = ()) -> str:
    """Return the style of drawings, with variables for colours that follow the reader's choice of light or dark.

    What has become of boxes and lines is in it if any of the drawings shows that.
    """
    from importlib.resources import files

    names = ("drawing.css", *(("fates.css",) if _are_compared(pictures) else ()))
    return "".join(files("stagec.views.svg").joinpath(name).read_text("utf-8") for name in names)


def _are_compared(pictures: Iterable[Picture]) -> bool:
    return any(each.fate is not None for each in pictures)


def read_colours(style: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the colours of a style by the names of their variables, on light and on dark ground."""
    dark = _DARK.search(style)
    light = _ROOT.search(_DARK.sub("", style))
    bright = dict(_VARIABLE.findall(light[0])) if light else {}
    return bright, bright | (dict(_VARIABLE.findall(dark[0])) if dark else {})


def settle(style: str) -> str:
    """Return a style with its colours in it: many programs that show SVG know no variables.

    The rules for dark ground come last, for readers who prefer it; programs that do not know them leave them out.
    """
    light, dark = read_colours(style)
    rules = _ROOT.sub("", _DARK.sub("", style))
    coloured = "".join(f"{rule}\n" for rule in rules.splitlines() if "var(" in rule)
    return f"{_paint(rules, light)}@media (prefers-color-scheme: dark) {{\n{_paint(coloured, dark)}}}\n"


def _paint(rules: str, colours: Mapping[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda found: colours[found[1]], rules)


def heads(pictures: Sequence[Picture] = ()) -> Markup:
    """Return the definitions of what lines begin and end with, in each of their colours; those of fates if needed."""
    found = []
    for colour in ("ink", "red", *(fate.value for fate in FATE_SIGNS if _are_compared(pictures))):
        for name, outline, tip in _HEADS:
            size: dict[str, str | float] = {"markerWidth": 10, "markerHeight": 8, "markerUnits": "userSpaceOnUse"}
            place: dict[str, str | float] = {"orient": "auto-start-reverse", "refX": tip, "refY": 4}
            drawn = element("path", {"class": f"mark {name} {colour}", "d": outline})
            found.append(element("marker", {"id": f"{name}-{colour}", **size, **place}, drawn))
    return Markup("".join(found))


_HEADS = (
    ("arrow", "M0 0L9 4L0 8Z", 9.0),
    ("hollow", "M1 1L9 4L1 7Z", 9.0),
    ("fork", "M0 4L5 1L10 4L5 7Z", 10.0),
)
"""Each with its outline and where its tip is."""
