"""A smaller drawing: several nodes as one box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.core.components import components
from stagec.core.diagnostic import Diagnostic
from stagec.core.value import replace
from stagec.core.words import counted
from stagec.picture.document import Box, Picture, Role, Stroke
from stagec.picture.ids import group_of
from stagec.picture.lines import merged

Groups = Mapping[str, list[Box]]
"""Boxes by the name of the group they become."""


class By(StrEnum):
    """What makes nodes one."""

    CYCLE = "cycle"
    PHASE = "phase"


def collapse(picture: Picture, by: By) -> Picture:
    """Return a drawing with one box for the nodes of each cycle, or of each phase; a group of one stays as it is."""
    known = _cycles(picture) if by is By.CYCLE else _phases(picture)
    groups = {name: boxes for name, boxes in known.items() if len(boxes) > 1}
    if not groups:
        return picture
    told = "that lead back to each other" if by is By.CYCLE else "of one phase"
    count = counted(sum(map(len, groups.values())), "node")
    remark = f"nodes {told} are drawn as one box: {count} as {len(groups)}"
    return replace(_joined(picture, groups), remarks=(*picture.remarks, remark))


def _cycles(picture: Picture) -> Groups:
    """Return the nodes that lead back to each other, called after the first."""
    nodes = [box for box in picture.boxes.values() if box.role is Role.NODE]
    index = {box.id: at for at, box in enumerate(nodes)}
    leads: list[list[int]] = [[] for _ in nodes]
    for line in picture.lines:
        if line.source in index and line.target in index and not line.is_guess:
            leads[index[line.source]].append(index[line.target])
    found = sorted(part for part in components(leads) if len(part) > 1)
    return {f"cycle of {nodes[part[0]].name}": [nodes[at] for at in part] for part in found}


def _phases(picture: Picture) -> Groups:
    """Return the nodes of each kind, or where there is none of each first part of a name; apart what is not reached."""
    found: dict[str, list[Box]] = {}
    for box in picture.boxes.values():
        if box.role is Role.NODE:
            phase = box.kind or box.name.partition(".")[0]
            found.setdefault(phase if box.is_reached else f"{phase}, never reached", []).append(box)
    return found


def _joined(picture: Picture, groups: Groups) -> Picture:
    home = {box.id: group_of(name) for name, boxes in groups.items() for box in boxes}
    inside: dict[str, list[Diagnostic]] = {name: [] for name in home.values()}
    lines = []
    for line in picture.lines:
        source, target = home.get(line.source, line.source), home.get(line.target, line.target)
        if source == target and source in inside:
            inside[source].extend(line.found)
        else:
            stroke = Stroke.GO if line.stroke is Stroke.BACK else line.stroke
            lines.append(replace(line, source=source, target=target, stroke=stroke))
    made = {group_of(name): _group(name, boxes, inside[group_of(name)]) for name, boxes in groups.items()}
    boxes: dict[str, Box] = {}
    for name, box in picture.boxes.items():
        boxes.setdefault(home.get(name, name), made[home[name]] if name in home else box)
    return replace(picture, boxes=boxes, lines=merged(lines))


def _group(name: str, boxes: Iterable[Box], inside: Iterable[Diagnostic]) -> Box:
    members = tuple(boxes)
    kinds = {box.kind for box in members}
    found = {id(each): each for each in (*(each for box in members for each in box.found), *inside)}
    return Box(
        id=group_of(name),
        name=name,
        role=Role.GROUP,
        kind=kinds.pop() if len(kinds) == 1 else None,
        is_reached=all(box.is_reached for box in members),
        members=tuple(box.name for box in members),
        found=tuple(found.values()),
        details={"members": [box.name for box in members]},
    )
