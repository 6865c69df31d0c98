"""Boxes that are alike, such as the branches of a wide fork: found, and one box for all of them."""

from __future__ import annotations

from stagec.core.value import replace, value
from stagec.picture.document import Box, Fate, Line, Picture, Role, Stroke, block_of

_LEAST = 11
"""Boxes that are worth a block; fewer are easier to follow beside each other."""
_MOST = 6
"""Ways that lead to all of a block, or from all of it: each needs room beside every row."""
_ROLES = {Role.NODE, Role.GROUP, Role.MISSING}

Bus = tuple[str, Stroke, bool, bool]
"""Lines of which each box of a block has one: the other end, the stroke, whether it is a guess, whether it leaves."""


@value
class Block:
    """Boxes of which each leads to the same others and is led to by the same others, in the same manner."""

    id: str
    members: tuple[str, ...]
    buses: tuple[Bus, ...]


@value
class Reduced:
    """A picture with one box for each block, and for each line of the whole picture the one that stands for it.

    Several lines of a block are one; a line from a box of a block to itself has none.
    """

    picture: Picture
    lines: tuple[int | None, ...]


def blocks_of(picture: Picture) -> tuple[Block, ...]:
    """Return the blocks of a picture."""
    buses: dict[str, dict[Bus, Fate | None]] = {name: {} for name in picture.boxes}
    for line in picture.lines:
        if line.source != line.target:
            buses[line.source][line.target, line.stroke, line.is_guess, True] = line.fate
            buses[line.target][line.source, line.stroke, line.is_guess, False] = line.fate
    alike: dict[tuple[object, ...], list[str]] = {}
    for name, own in buses.items():
        box = picture.boxes[name]
        if box.role in _ROLES and len(own) <= _MOST:
            alike.setdefault((box.role, box.is_reached, box.fate, frozenset(own.items())), []).append(name)
    large = (tuple(members) for members in alike.values() if len(members) >= _LEAST)
    return tuple(Block(block_of(members[0]), members, tuple(buses[members[0]])) for members in large)


def reduce(picture: Picture, blocks: tuple[Block, ...]) -> Reduced:
    """Return a picture in which each block is one box, where the first of its boxes was."""
    home = {name: block.id for block in blocks for name in block.members}
    boxes: dict[str, Box] = {}
    for name, box in picture.boxes.items():
        boxes.setdefault(home.get(name, name), replace(box, id=home.get(name, name)))
    lines: dict[object, Line] = {}
    keys: list[object] = []
    for at, line in enumerate(picture.lines):
        source, target = home.get(line.source, line.source), home.get(line.target, line.target)
        is_own = source == line.source and target == line.target
        key: object = at if is_own else (source, target, line.stroke, line.is_guess)
        keys.append(None if source == target and not is_own else key)
        if keys[at] is not None:
            lines.setdefault(key, line if is_own else Line(source, target, line.stroke, is_guess=line.is_guess))
    number = {key: at for at, key in enumerate(lines)}
    return Reduced(replace(picture, boxes=boxes, lines=tuple(lines.values())), tuple(map(number.get, keys)))
