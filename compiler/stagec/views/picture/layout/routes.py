"""The ways of lines in points, and the places of their labels."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum

from stagec.core.value import value
from stagec.views.picture.document import Picture
from stagec.views.picture.layout.document import Face, Frame, Point, Route, Tag
from stagec.views.picture.layout.mesh import LOOP, SPREAD, STUB, Bands, Key, Mesh, Way

_LANE = 8.0
"""Between two lanes."""
_MOST = 150
"""Lanes beside one column; more lines than that share them."""
_APART = 40.0
"""Between two columns, at least."""


_UNDER = 30.0
"""Below everything, where lines leave for a corridor."""


Trunk = tuple[int, bool, Key]
"""Lines that share lanes: the box that all lead to, or that all come from, which of both, and their key."""
Stretch = tuple[int, Trunk]
"""Lanes in one corridor; or those above all columns, at False, and below, at True."""
Span = tuple[float, float]
"""From where to where."""


@value
class Bypass:
    """The course of a line in a corridor: from the gap below one rank to that below another, beside one column or two.

    Corridors are counted from the left, the first is at the left of the first column. `is_above` tells whether the box
    at the far end is above where the line leaves.
    """

    trunk: Trunk
    leaves: int
    enters: int
    corridors: tuple[int, int]
    is_above: bool


def runs_of(mesh: Mesh) -> dict[int, Bypass]:
    """Return how all lines in corridors run; within one column they run at its left if they lead upwards."""
    return {at: _run(mesh, way, way.far) for at, way in mesh.ways.items() if way.far is not None}


def _run(mesh: Mesh, way: Way, far: int) -> Bypass:
    rank, there = mesh.rank[way.label], mesh.rank[far]
    is_above = there < rank
    here, beyond = mesh.column(rank), mesh.column(there)
    corridors = here + (not way.is_upward), here + (not way.is_upward)
    if here != beyond:
        corridors = (here + 1, beyond) if here < beyond else (here, beyond + 1)
    return Bypass((far, way.merges, way.key), rank - is_above, there - (not is_above), corridors, is_above)


class Lanes:
    """The lanes by which lines bypass the boxes: in the corridors beside columns, and above and below all columns."""

    def __init__(self, runs: Mapping[int, Bypass], bands: Bands, widths: Sequence[float]) -> None:
        self._runs = runs
        self._bands = bands
        self._high = max(bands.bottom, default=0.0)
        beside, across = self._spans()
        self._ident = {stretch: at for at, stretch in enumerate(beside)}
        self._number = _number_stretches(beside)
        self._level = _number_stretches(across)
        self.above, below = (_LANE * (_count(self._level, side) + 1) for side in (False, True))
        self.above *= any(not is_below for is_below, _ in across)
        self.below = bool(runs) * _UNDER + below * any(is_below for is_below, _ in across)
        self.columns, self.width = self._place(widths)

    def beside(self, line: int) -> tuple[int, float]:
        """Return the number of the lane by which a line arrives, and the position of the lane."""
        run = self._runs[line]
        stretch = run.corridors[-1], run.trunk
        return self._ident[stretch], self._x(stretch)

    def points(self, line: int, x: float, end: Point) -> Iterator[Point]:
        """Yield the points of a line from its label to the border of the box at its far end."""
        run = self._runs[line]
        first, last = ((corridor, run.trunk) for corridor in run.corridors)
        leave = self._bands.between(run.leaves, self._number[first])
        enter = self._bands.between(run.enters, self._number[last])
        yield from ((x, leave), (self._x(first), leave))
        if first != last:
            y = self._y((self._is_below(run), run.trunk))
            yield from ((self._x(first), y), (self._x(last), y))
        yield from ((self._x(last), enter), (end[0], enter), end)

    def _spans(self) -> tuple[dict[Stretch, Span], dict[Stretch, Span]]:
        """Return from where to where lanes are used, in pixels downwards and in corridors from the left."""
        beside: dict[Stretch, Span] = {}
        across: dict[Stretch, Span] = {}
        for run in self._runs.values():
            first, last = run.corridors
            leave, enter = self._reach(run.leaves), self._reach(run.enters)
            edge = self._high + _UNDER if self._is_below(run) else -1.0
            for corridor, reach in ((first, leave), (last, enter)):
                _widen(beside, (corridor, run.trunk), (*reach, *((edge,) if first != last else ())))
            if first != last:
                _widen(across, (self._is_below(run), run.trunk), (first, last))
        return beside, across

    def _reach(self, rank: int) -> Span:
        heights = [self._bands.between(rank, number) for number in range(SPREAD)]
        return heights[0], heights[-1]

    def _is_below(self, run: Bypass) -> bool:
        return self._bands.between(run.enters, 0) > self._high / 2

    def _place(self, widths: Sequence[float]) -> tuple[list[float], float]:
        """Return the positions of columns and the whole width, and remember the positions of corridors."""
        self._corridors = [0.0]
        columns = []
        for at, width in enumerate(widths):
            columns.append(self._corridors[at] + self._room(at, is_outer=not at))
            self._corridors.append(columns[-1] + width)
        self._outer = self._room(0, is_outer=True)
        return columns, self._corridors[-1] + self._room(len(widths), is_outer=True)

    def _room(self, corridor: int, *, is_outer: bool) -> float:
        count = _count(self._number, corridor)
        return (count > 0) * _LANE * (count + 1) if is_outer else max(_APART, _LANE * (count + 3))

    def _x(self, stretch: Stretch) -> float:
        away = _LANE * (self._number[stretch] % _MOST + 2)
        return self._corridors[stretch[0]] + away if stretch[0] else self._outer - away

    def _y(self, stretch: Stretch) -> float:
        away = _LANE * (self._level[stretch] % _MOST + 2)
        return self._high + _UNDER + away if stretch[0] else -away


def _widen(spans: dict[Stretch, Span], stretch: Stretch, more: Iterable[float]) -> None:
    known = (*spans.get(stretch, ()), *more)
    spans[stretch] = min(known), max(known)


def _count(numbers: Mapping[Stretch, int], side: int) -> int:
    """Return how many lanes there are on a side."""
    return min(_MOST, max((number + 1 for stretch, number in numbers.items() if stretch[0] == side), default=0))


def _number_stretches(spans: Mapping[Stretch, Span]) -> dict[Stretch, int]:
    """Give each stretch the first lane on its side that is free from its beginning to its end."""
    found: dict[Stretch, int] = {}
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[float, int]]] = {}
    for (begin, end), stretch in sorted((span, stretch) for stretch, span in spans.items()):
        own, used = free.setdefault(stretch[0], []), busy.setdefault(stretch[0], [])
        while used and used[0][0] < begin:
            heapq.heappush(own, heapq.heappop(used)[1])
        found[stretch] = heapq.heappop(own) if own else len(used)
        heapq.heappush(used, (end, found[stretch]))
    return found


_PORT = 16.0
"""Between the ends of lines at one border of a box, at most."""
INSET = 20.0
"""From the corner of a box to the first line, at least, as far as there is room."""


Ports = Mapping[tuple[int, int], float]
"""The points at which lines meet a box, by the box and the neighbour; lanes count from -1 downwards."""


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
