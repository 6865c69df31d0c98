"""A part of a drawing: what is near one box."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.value import replace
from stagec.core.words import counted, quote
from stagec.picture.document import Picture, Role

_THROUGH = {Role.NODE, Role.GROUP}
"""Boxes beyond which the neighbourhood goes on: all nodes are near each other by way of the ends."""


def focus(picture: Picture, box: str, depth: int) -> Picture:
    """Return the boxes at most so many lines away from one, in either direction, and the lines between them."""
    kept = _near(picture, box, depth)
    left = len(picture.boxes) - len(kept)
    if not left:
        return picture
    found = {id(each) for name, one in picture.boxes.items() if name not in kept for each in one.found}
    name = quote(picture.boxes[box].name)
    remark = f"left out: {left} of {len(picture.boxes)} boxes, more than {depth} "
    remark += f"{'line' if depth == 1 else 'lines'} away from {name}"
    remark += f", with {counted(len(found), 'finding')}" if found else ""
    return replace(
        picture,
        boxes={name: each for name, each in picture.boxes.items() if name in kept},
        lines=tuple(line for line in picture.lines if line.source in kept and line.target in kept),
        remarks=(*picture.remarks, remark),
    )


def _near(picture: Picture, box: str, depth: int) -> set[str]:
    beside = _neighbours(picture)
    seen, border = {box}, [box]
    for _ in range(depth):
        inner = [name for name in border if name == box or picture.boxes[name].role in _THROUGH]
        border = [each for each in dict.fromkeys(one for name in inner for one in beside[name]) if each not in seen]
        seen.update(border)
        if not border:
            break
    return seen


def _neighbours(picture: Picture) -> Mapping[str, list[str]]:
    beside: dict[str, list[str]] = {name: [] for name in picture.boxes}
    for line in picture.lines:
        beside[line.source].append(line.target)
        beside[line.target].append(line.source)
    return beside
