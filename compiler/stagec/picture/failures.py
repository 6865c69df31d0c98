"""Failures that end a run from almost every node alike: each drawn, all drawn once, or left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.core.value import replace
from stagec.core.words import listing
from stagec.picture.document import Box, Fate, Line, Picture, Role, Stroke, every_of

_LEAST = 3
"""Nodes that fail alike; fewer are drawn as they are."""
_MOST_OTHERS = 3
"""Nodes that do not, which are named."""


class Edges(StrEnum):
    """Which of the edges by which nodes fail alike are drawn."""

    ALL = "all"
    ONCE = "once"
    """One for all of them, from a box that stands for the nodes."""
    MAIN = "main"
    """None of them; a remark says so."""


def draw_failures(picture: Picture, edges: Edges) -> Picture:
    """Return a drawing with as many edges to the failed end as wanted; what was found at one keeps its own line."""
    shared = {} if edges is Edges.ALL else _find_shared(picture)
    if not shared:
        return picture
    lines = [left for line in picture.lines for left in _subtract(picture, line, shared)]
    boxes, remarks = dict(picture.boxes), picture.remarks
    wholes: dict[str, list[str]] = {}
    for label, whole in shared.items():
        wholes.setdefault(whole, []).append(label)
    end = next(name for name, box in boxes.items() if box.role is Role.FAILED)
    if edges is Edges.MAIN:
        for whole, labels in wholes.items():
            how = f"by {listing(list(filter(None, labels)))} " if any(labels) else ""
            remarks = (*remarks, f"not drawn: {whole} leads {how}to the end failed")
        if not any(line.target == end for line in lines):
            del boxes[end]
    else:
        reached = any(box.is_reached for box in boxes.values() if box.role is Role.NODE)
        for at, (whole, labels) in enumerate(wholes.items()):
            fate = Fate.SAME if picture.fate is Fate.CHANGED else picture.fate
            boxes[every_of(at)] = Box(every_of(at), whole, Role.EVERY, is_reached=reached, fate=fate)
            lines.append(Line(every_of(at), end, Stroke.END, tuple(filter(None, labels)), fate=fate))
    return replace(picture, boxes=boxes, lines=tuple(lines), remarks=remarks)


def _find_shared(picture: Picture) -> Mapping[str, str]:
    """Return in words which nodes fail alike, by the label of their edges; an edge without one has the empty label."""
    sources: dict[str, set[str]] = {}
    for line in picture.lines:
        if _is_failure(picture, line):
            for label in line.labels or ("",):
                sources.setdefault(label, set()).add(line.source)
    nodes = {name: box for name, box in picture.boxes.items() if box.role is Role.NODE}
    found: dict[str, str] = {}
    for label, own in sources.items():
        others = [box.name for name, box in nodes.items() if name not in own]
        if len(own) >= _LEAST and len(others) <= min(_MOST_OTHERS, len(own) - 1):
            found[label] = f"every node but {listing(others)}" if others else "every node"
    return found


def _is_failure(picture: Picture, line: Line) -> bool:
    """Tell whether a line is one by which a node fails; one of which something else has become tells something."""
    if line.fate is Fate.CHANGED or line.fate not in {None, Fate.SAME, picture.boxes[line.source].fate}:
        return False
    ends = picture.boxes[line.source].role, picture.boxes[line.target].role
    return ends == (Role.NODE, Role.FAILED) and line.stroke is Stroke.END and not line.is_guess


def _subtract(picture: Picture, line: Line, shared: Mapping[str, str]) -> Iterator[Line]:
    """Yield what is left of a line when nothing is drawn that is shared."""
    if line.found or not _is_failure(picture, line):
        yield line
        return
    labels = tuple(label for label in line.labels or ("",) if label not in shared)
    if labels:
        yield replace(line, labels=tuple(filter(None, labels)))
