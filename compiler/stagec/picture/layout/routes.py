"""The ways of lines in points, and the places of their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from stagec.picture.document import Picture
from stagec.picture.layout.coordinates import STUB, Bands
from stagec.picture.layout.document import Face, Frame, Point, Route, Tag
from stagec.picture.layout.lanes import Lanes
from stagec.picture.layout.mesh import LOOP, Mesh, Way

_PORT = 16.0
"""Between the ends of lines at one border of a box, at most."""
INSET = 20.0
"""From the corner of a box to the first line, at least, as far as there is room."""

Ports = Mapping[tuple[int, int], float]
"""Where lines meet a box, by the box and what they pass next to it; lanes count from -1 downwards."""


class Ways:
    """Draws the ways of lines: where vertices are, the heights of the ranks, and the lanes of those in corridors."""

    def __init__(self, mesh: Mesh, at: Sequence[float], bands: Bands, lanes: Lanes) -> None:
        self.mesh = mesh
        self.at = at
        self.bands = bands
        self.lanes = lanes
        self.ports = self._ports()

    def points(self, line: int) -> tuple[Point, ...]:
        """Return the points of a line, from its source to its target."""
        way = self.mesh.ways[line]
        found = [point for index in range(len(way.steps)) for point in self._at(way, index)]
        if way.far is None:
            return _spare(found if way.steps[0] == way.source else found[::-1])
        is_above = self._is_above(way, way.far)
        if is_above:
            found.reverse()
        rank, half = self.mesh.rank[way.far], self.bands.half[way.far]
        middle = (self.bands.top[rank] + self.bands.bottom[rank]) / 2
        port = self.ports[way.far, -1 - self.lanes.beside(line)[0]]
        found += self.lanes.points(line, found[-1][0], (port, middle + half if is_above else middle - half))
        return _spare(found if way.merges else found[::-1])

    def _is_above(self, way: Way, far: int) -> bool:
        return self.mesh.rank[far] < self.mesh.rank[way.label]

    def _at(self, way: Way, index: int) -> Iterator[Point]:
        """Yield the upper and the lower point at which a line passes the rank of a vertex."""
        vertex, steps = way.steps[index], way.steps
        top, bottom = self.bands.top[self.mesh.rank[vertex]], self.bands.bottom[self.mesh.rank[vertex]]
        if vertex >= self.mesh.boxes:
            yield self.at[vertex], top
            yield self.at[vertex], bottom
            return
        half = self.bands.half[vertex]
        middle = (top + bottom) / 2
        if index == 0:
            port = self.ports[vertex, steps[1]]
            yield from ((port, middle + half), (port, bottom + STUB))
        else:
            port = self.ports[vertex, steps[index - 1]]
            yield from ((port, top - STUB), (port, middle - half))

    def _ports(self) -> Ports:
        """Spread the ends of lines over the borders of their boxes, in the order of where they come from."""
        sides: dict[tuple[int, bool], dict[int, float]] = {}
        for line, way in self.mesh.ways.items():
            steps = way.steps
            for box, beside, is_top in ((steps[0], steps[1], False), (steps[-1], steps[-2], True)):
                if box < self.mesh.boxes:
                    sides.setdefault((box, is_top), {})[beside] = self.at[beside]
            if way.far is not None:
                number, x = self.lanes.beside(line)
                sides.setdefault((way.far, not self._is_above(way, way.far)), {})[-1 - number] = x
        found: dict[tuple[int, int], float] = {}
        for (box, _), near in sides.items():
            reach = self.bands.width[box] / 2 - INSET
            ordered = sorted((x, each) for each, x in near.items())
            ports = spread([x for x, _ in ordered], self.at[box] - reach, self.at[box] + reach)
            found.update(zip([(box, each) for _, each in ordered], ports, strict=True))
        return found


def spread(wanted: list[float], first: float, last: float) -> list[float]:
    """Return places from `first` to `last`, in order, near those that are wanted and not too near each other."""
    step = min(_PORT, (last - first) / max(1, len(wanted) - 1))
    places: list[float] = []
    for each in wanted:
        places.append(max(min(each, last), places[-1] + step if places else first))
    for index, each in enumerate(places):
        places[index] = min(each, last - step * (len(places) - 1 - index))
    return places


def _spare(points: list[Point]) -> tuple[Point, ...]:
    """Return the points without those that repeat or lie between their neighbours on one vertical."""
    kept: list[Point] = []
    for point in [(round(x, 1), round(y, 1)) for x, y in points]:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1 and kept[-2][0] == kept[-1][0] == point[0]:
            kept.pop()
        kept.append(point)
    return tuple(kept)


def loops(picture: Picture, frames: Mapping[str, Frame], labels: Mapping[int, Face]) -> Iterator[tuple[int, Route]]:
    """Yield the lines from a box to itself, at its right side, their labels below each other."""
    lists: dict[str, list[int]] = {}
    for at, line in enumerate(picture.lines):
        if line.source == line.target:
            lists.setdefault(line.source, []).append(at)
    for name, own in lists.items():
        box = frames[name]
        y = box.middle[1] - fsum(labels[at].height + 4 if at in labels else 4 for at in own) / 2
        for index, at in enumerate(own):
            face = labels.get(at)
            reach = box.right + 4 + (LOOP - 8) * (index + 1) / len(own)
            tag = Tag(Frame(box.right + LOOP - 1, y + 2, face.width, face.height), face) if face else None
            middle, half = box.middle[1], box.height * 0.22 * ((index + 1) / len(own))
            out = (box.right, middle - half), (reach, middle - half)
            yield at, Route((*out, (reach, middle + half), (box.right, middle + half)), tag)
            y += face.height + 4 if face else 4
