"""The outlines of boxes: what a box stands for is told by its shape and its border, not by colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.emitters import Box, Picture, Role
from stagec.emitters.html.markup import Markup, element

_SLANT = 11.0
_KINDS = ("plain", "hexagon", "bars", "cut", "round", "slanted")
"""The outlines of kinds of node, in the order in which the kinds first occur."""
_ROLES = {
    Role.START: "pill",
    Role.DONE: "ring",
    Role.FAILED: "octagon",
    Role.MISSING: "slanted",
    Role.GROUP: "stack",
}
_CORNERS = {
    "hexagon": "Lt Rt rm Rb Lb lm",
    "cut": "lt Rt rT rb lb",
    "slanted": "Lt rt Rb lb",
    "octagon": "Lt Rt rT rB Rb Lb lB lT",
}
"""The corners of outlines, clockwise: l left, r right, t top, b bottom, m middle, capital letters a little inside."""


def outlines(pictures: Iterable[Picture]) -> Mapping[str, str]:
    """Return the name of the outline of each kind of node in several pictures."""
    boxes = (box for picture in pictures for box in picture.boxes.values())
    kinds = dict.fromkeys(box.kind for box in boxes if box.role is Role.NODE and box.kind)
    return {kind: _KINDS[at % len(_KINDS)] for at, kind in enumerate(kinds)}


def outline_of(box: Box, outlines: Mapping[str, str]) -> str:
    """Return the name of the outline of a box."""
    return _ROLES.get(box.role) or outlines.get(box.kind or "", "round")


def shape(outline: str, width: float, height: float) -> Markup:
    """Return the shape of a box whose left upper corner is at zero."""
    inner = ""
    if outline in {"ring", "octagon"}:
        inner = _path(outline, 4, 4, width - 4, height - 4)
    if outline == "bars":
        inner = f"M6 0V{height:.1f}M{width - 6:.1f} 0V{height:.1f}"
    back = element("path", {"class": "shape", "d": _path("plain", 6, -5, width + 6, height - 5)})
    main = element("path", {"class": "shape", "d": _path(outline, 0, 0, width, height)})
    more = element("path", {"class": "inner", "d": inner})
    return Markup((back if outline == "stack" else "") + main + (more if inner else ""))


def _path(outline: str, left: float, top: float, right: float, bottom: float) -> str:
    if outline in {"pill", "ring", "round"}:
        return _rounded(left, top, right, bottom, 9 if outline == "round" else (bottom - top) / 2)
    slant = min(_SLANT, (bottom - top) / 3)
    horizontal = {"l": left, "L": left + slant, "R": right - slant, "r": right}
    vertical = {"t": top, "T": top + slant, "m": (top + bottom) / 2, "B": bottom - slant, "b": bottom}
    corners = _CORNERS.get(outline, "lt rt rb lb").split()
    return "M" + "L".join(f"{horizontal[each[0]]:.1f} {vertical[each[1]]:.1f}" for each in corners) + "Z"


def _rounded(left: float, top: float, right: float, bottom: float, radius: float) -> str:
    radius = min(radius, (bottom - top) / 2, (right - left) / 2)
    arc = f"A{radius:.1f} {radius:.1f} 0 0 1"
    return (
        f"M{left + radius:.1f} {top:.1f}H{right - radius:.1f}{arc} {right:.1f} {top + radius:.1f}"
        f"V{bottom - radius:.1f}{arc} {right - radius:.1f} {bottom:.1f}"
        f"H{left + radius:.1f}{arc} {left:.1f} {bottom - radius:.1f}"
        f"V{top + radius:.1f}{arc} {left + radius:.1f} {top:.1f}Z"
    )
