"""Smaller drawings: the neighbourhood of one box, several nodes as one box, and what fits a format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.components import components
from stagec.core.value import replace, value
from stagec.core.words import format_count, quote
from stagec.picture.document import Box, Fate, Line, Picture, Role, describe_fate, group_of, head_of
from stagec.picture.lines import merge

_THROUGH = {Role.NODE, Role.GROUP, Role.CHOICE}
"""Boxes beyond which the neighbourhood goes on: all nodes are near each other by way of the ends."""


def focus(picture: Picture, box: str, depth: int) -> Picture:
    """Return the boxes at most so many lines away from one, in either direction, and the lines between them."""
    return keep_near(picture, [box], depth, quote(picture.boxes[box].name))


def keep_near(picture: Picture, centre: Collection[str], depth: int, called: str) -> Picture:
    """Return the boxes at most so many lines away from some, and the lines between them."""
    beside = _neighbours(picture)
    kept, border = set(centre), list(centre)
    for _ in range(depth):
        inner = [name for name in border if name in centre or picture.boxes[name].role in _THROUGH]
        border = [each for each in dict.fromkeys(one for name in inner for one in beside[name]) if each not in kept]
        kept.update(border)
        if not border:
            break
    left = len(picture.boxes) - len(kept)
    if not left:
        return picture
    found = {id(each) for name, one in picture.boxes.items() if name not in kept for each in one.found}
    remark = f"left out: {left} of {len(picture.boxes)} boxes, more than {depth} "
    remark += f"{'line' if depth == 1 else 'lines'} away from {called}"
    remark += f", with {format_count(len(found), 'finding')}" if found else ""
    return replace(
        picture,
        boxes={name: each for name, each in picture.boxes.items() if name in kept},
        lines=tuple(line for line in picture.lines if line.source in kept and line.target in kept),
        remarks=(*picture.remarks, remark),
    )


def _neighbours(picture: Picture) -> Mapping[str, list[str]]:
    beside: dict[str, list[str]] = {name: [] for name in picture.boxes}
    for line in picture.lines:
        beside[line.source].append(line.target)
        beside[line.target].append(line.source)
    return beside


Groups = Mapping[str, list[Box]]
"""Boxes by the name of the group they become."""


class By(StrEnum):
    """What makes nodes one."""

    CYCLE = "cycle"
    PHASE = "phase"


def collapse(picture: Picture, by: By) -> Picture:
    """Return a drawing with one box for the nodes of each cycle, or of each phase; a group of one stays as it is."""
    known: dict[str, list[Box]] = {}
    if by is By.CYCLE:
        # the nodes that lead back to each other, called after the first, with the choices between them
        nodes = sorted((box for box in picture.boxes.values() if box.role in _REPEATED), key=_is_choice)
        index = {box.id: at for at, box in enumerate(nodes)}
        leads: list[list[int]] = [[] for _ in nodes]
        for line in picture.lines:
            if line.source in index and line.target in index and not line.is_guess:
                leads[index[line.source]].append(index[line.target])
        found = sorted(part for part in components(leads) if len(part) > 1)
        known = {f"cycle of {nodes[part[0]].name}": [nodes[at] for at in part] for part in found}
    else:
        # the nodes of each kind, or of each first part of a name; nodes that no run reaches are apart
        for box in picture.boxes.values():
            if box.role is Role.NODE:
                phase = box.kind or box.name.partition(".")[0]
                known.setdefault(phase if box.is_reached else f"{phase}, never reached", []).append(box)
    groups = {name: boxes for name, boxes in known.items() if len(boxes) > 1}
    if not groups:
        return picture
    told = "that lead back to each other" if by is By.CYCLE else "of one phase"
    count = format_count(sum(box.role is Role.NODE for boxes in groups.values() for box in boxes), "node")
    remark = f"nodes {told} are drawn as one box: {count} as {len(groups)}"
    return replace(_join(picture, groups), remarks=(*picture.remarks, remark))


_REPEATED = {Role.NODE, Role.CHOICE}


def _is_choice(box: Box) -> bool:
    return box.role is Role.CHOICE


def _join(picture: Picture, groups: Groups) -> Picture:
    home = {box.id: group_of(name) for name, boxes in groups.items() for box in boxes}
    inside: dict[str, list[Line]] = {name: [] for name in home.values()}
    lines = []
    for line in picture.lines:
        source, target = home.get(line.source, line.source), home.get(line.target, line.target)
        if source == target and source in inside:
            inside[source].append(line)
        else:
            lines.append(replace(line, source=source, target=target))
    made = {group_of(name): _group(name, boxes, inside[group_of(name)]) for name, boxes in groups.items()}
    boxes: dict[str, Box] = {}
    for name, box in picture.boxes.items():
        boxes.setdefault(home.get(name, name), made[home[name]] if name in home else box)
    return replace(picture, boxes=boxes, lines=merge(lines))


def _group(name: str, boxes: Iterable[Box], inside: Iterable[Line]) -> Box:
    members = tuple(box for box in boxes if not _is_choice(box))
    kinds = {box.kind for box in members}
    fates = {*(box.fate for box in members), *(line.fate for line in inside)}
    fate = fates.pop() if len(fates) == 1 else Fate.CHANGED
    owned = (*(box.found for box in members), *(line.found for line in inside))
    found = {id(each): each for some in owned for each in some}
    return Box(
        id=group_of(name),
        name=name,
        role=Role.GROUP,
        kind=kinds.pop() if len(kinds) == 1 else None,
        is_reached=all(box.is_reached for box in members),
        members=tuple(box.name for box in members),
        found=tuple(found.values()),
        details={"members": [box.name for box in members]},
        fate=fate,
        changes=tuple(_tell_inside(members, inside)) if fate is Fate.CHANGED else (),
    )


def _tell_inside(members: Iterable[Box], inside: Iterable[Line]) -> Iterator[str]:
    """Yield what has become of the members of a group, and of the lines between them."""
    for box in members:
        if box.fate is not Fate.SAME:
            told = ", ".join(map(head_of, box.changes)) or describe_fate(box.fate)
            yield f"{box.name}: {told}"
    for fate in (Fate.ADDED, Fate.REMOVED, Fate.CHANGED):
        count = sum(line.fate is fate for line in inside)
        if count:
            yield f"{format_count(count, 'line')} inside {fate}"


def weigh(pictures: Iterable[Picture]) -> int:
    """Return how large drawings are: their boxes and lines, which is what laying out takes its time for."""
    return sum(len(picture.boxes) + len(picture.lines) for picture in pictures)


@value
class Limit:
    """The most of something that a format can show, what that is called, and what counts it in drawings."""

    most: int
    nouns: str
    count: Callable[[tuple[Picture, ...]], int]

    def tell(self, pictures: tuple[Picture, ...]) -> str:
        """Return how many of it drawings have, which are more than allowed: `501 lines`."""
        return f"{self.count(pictures):,} {self.nouns}"


def find_exceeded(pictures: tuple[Picture, ...], limits: Iterable[Limit]) -> Limit | None:
    """Return the first limit that drawings exceed together."""
    return next((limit for limit in limits if limit.count(pictures) > limit.most), None)


def fit(pictures: tuple[Picture, ...], limits: tuple[Limit, ...]) -> tuple[Picture, ...]:
    """Return drawings that together exceed no limit, or the smallest there are; each says what was done."""
    for by in By:
        exceeded = find_exceeded(pictures, limits)
        if exceeded is None:
            break
        share, most = exceeded.most // len(pictures), f"{exceeded.most:,}"
        beyond = f"more than {most}" if len(pictures) == 1 else f"too many where {len(pictures)} flows share {most}"
        smaller: list[Picture] = []
        for picture in pictures:
            made = collapse(picture, by) if exceeded.count((picture,)) > share else picture
            if made is not picture:
                large = f"{exceeded.tell((picture,))} are {beyond}"
                made = replace(made, remarks=(*made.remarks, large))
            smaller.append(made)
        pictures = tuple(smaller)
    return pictures
