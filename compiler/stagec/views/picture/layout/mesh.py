"""The mesh of a drawing, the levels of its boxes, and their coordinates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import fsum, inf, sqrt
from typing import NamedTuple

from stagec.core.value import value
from stagec.views.picture.document import Picture, Role
from stagec.views.picture.layout.document import Face

Arc = tuple[int, int]


def backward(count: int, arcs: Sequence[Arc], first: Iterable[int]) -> frozenset[int]:
    """Return the indexes of the arcs that lead back to where a walk along the others came from, loops included."""
    leaving: list[list[int]] = [[] for _ in range(count)]
    for at, (source, _) in enumerate(arcs):
        leaving[source].append(at)
    state = [0] * count  # 1 while the walk is below it, 2 when the walk has left it
    found: set[int] = set()
    for root in (*first, *range(count)):
        if not state[root]:
            found.update(_walk(root, arcs, leaving, state))
    return frozenset(found)


def _walk(root: int, arcs: Sequence[Arc], leaving: list[list[int]], state: list[int]) -> Iterator[int]:
    state[root] = 1
    way = [(root, iter(leaving[root]))]
    while way:
        vertex, left = way[-1]
        at = next(left, None)
        if at is None:
            state[vertex] = 2
            way.pop()
            continue
        target = arcs[at][1]
        if state[target] == 1:
            yield at
        elif not state[target]:
            state[target] = 1
            way.append((target, iter(leaving[target])))


def levels(count: int, arcs: Sequence[Arc], most: int, first: Iterable[int] = ()) -> list[int]:
    """Return the level of each vertex of an acyclic graph: below all it is reached from, no more than `most` on one.

    Without room, the successor of a vertex is placed before the next vertex, so that both stay together. What is
    reached from nothing stands right above what it leads to, but for the vertices named `first`.
    """
    above, below = neighbours(count, arcs)
    waiting = [len(each) for each in above]
    level, room = [0] * count, _Room(most)
    ready = [vertex for vertex in reversed(range(count)) if not waiting[vertex]]
    placed = []
    while ready:
        vertex = ready.pop()
        level[vertex] = room.take(max((level[each] + 1 for each in above[vertex]), default=0))
        placed.append(vertex)
        for each in reversed(below[vertex]):
            waiting[each] -= 1
            if not waiting[each]:
                ready.append(each)
    fixed = set(first)
    for vertex in reversed(placed):
        if below[vertex] and not above[vertex] and vertex not in fixed:
            level[vertex] = room.move(level[vertex], min(level[each] for each in below[vertex]) - 1)
    return level


def neighbours(count: int, arcs: Iterable[Arc]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the neighbours above and those below each vertex."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in arcs:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


class _Room:
    """How many vertices each level still takes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used: dict[int, int] = {}
        self.next: dict[int, int] = {}

    def take(self, wanted: int) -> int:
        """Return the first level from `wanted` on that is not full, and count one more on it."""
        passed = []
        while self.used.get(wanted, 0) >= self.most:
            passed.append(wanted)
            wanted = self.next.get(wanted, wanted + 1)
        for each in passed:
            self.next[each] = wanted
        self.used[wanted] = self.used.get(wanted, 0) + 1
        return wanted

    def move(self, level: int, wanted: int) -> int:
        """Return `wanted` if there is room, else the level where something is."""
        if self.used.get(wanted, 0) >= self.most:
            return level
        self.used[level] -= 1
        self.used[wanted] = self.used.get(wanted, 0) + 1
        return wanted


_ASPECT = 1.5
"""How many times as wide as high a drawing of several columns should be."""
_LEAST = 3_000.0
"""The least height of a column: a drawing less than twice as high has only one."""
_BETWEEN, _BESIDE = 80.0, 130.0
"""The approximate room for lines and labels in the height of a level and in the width of a column."""
_MESH_NEAR = 0.15
"""The tolerance in the height of a column, so that it ends where few lines pass."""


Size = tuple[float, float]
"""Width and height."""


def fold(level: Sequence[int], sizes: Sequence[Size], arcs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the first level of each column, given the levels and sizes of all boxes and the lines between them."""
    widths, heights = [0.0] * (max(level, default=-1) + 1), [0.0] * (max(level, default=-1) + 1)
    for at, (width, height) in zip(level, sizes, strict=True):
        widths[at] += width
        heights[at] = max(heights[at], height)
    reached = list(accumulate(each + _BETWEEN for each in heights))
    high = reached[-1] if reached else 0.0
    wide = fsum(widths) / max(1, len(widths)) + _BESIDE
    count = int(min(sqrt(_ASPECT * high / wide), high / _LEAST))
    # how many lines pass the upper end of each level
    number = len(widths)
    changes = [0] * (number + 1)
    for upper, lower in arcs:
        changes[level[upper] + 1] += 1
        changes[level[lower] + 1] -= 1
    passing = list(accumulate(changes))
    return sorted(
        {0, *(_cut(reached, passing, high * at / count, _MESH_NEAR * high / count) for at in range(1, count))}
    )


def _cut(reached: list[float], passing: list[int], wanted: float, near: float) -> int:
    """Return the level that begins near a height and that fewest lines pass, the nearest of several such."""
    first, last = (bisect_left(reached, each) + 1 for each in (wanted - near, wanted + near))
    levels = range(max(1, first), max(first + 1, min(last + 1, len(reached))))
    return min(levels, key=lambda at: (passing[at], abs(reached[at - 1] - wanted)))


SPACE = 22.0
"""Between what stands on one rank."""
_BEND_SPACE = 9.0
_MOST_BENDS = 6
"""Bends for each box and line, at most, on average."""
_CROWD = 12
"""Lines at one box, from which on labels stand at the other end."""
_SHORT = 3
"""The vertices of a line to the next level: a box, its label, a box."""
HEAVY = 30.0
"""The weight of straightness of a line that is the main one of its boxes; other lines have 1."""
LOOP = 20.0
"""How far a line from a box to itself reaches out, without its label."""


Key = tuple[str, bool, bool]
"""Lines that may share a way: their stroke and fate, whether a run comes by, whether they lead upwards."""


@value
class Way:
    """The vertices of a line, from the upper to the lower end, the ends included.

    `label` is the vertex that stands for its label. `source` is the box where it begins, at the lower end if it leads
    upwards. Of a line in a corridor only the label and the end next to it are in the mesh; `far` is the other. A
    line that `merges` shares the end of its way with others, any other line the beginning.
    """

    steps: tuple[int, ...]
    label: int
    source: int
    key: Key
    far: int | None = None
    merges: bool = True

    @property
    def is_upward(self) -> bool:
        """Whether it leads from the lower end to the upper."""
        return self.key[-1]


class Mesh:
    """Vertices by number, boxes first: rank, reach to the left and right of the middle, height, and what they join."""

    def __init__(self, boxes: int) -> None:
        self.boxes = boxes
        self.first: list[int] = [0]
        """The first rank of each column."""
        self.rank: list[int] = []
        self.left: list[float] = []
        self.right: list[float] = []
        self.height: list[float] = []
        self.above: list[list[int]] = []
        self.below: list[list[int]] = []
        self.heavy: dict[tuple[int, int], float] = {}
        """Joins that should be straight above all others."""
        self.labels: set[int] = set()
        """The vertices that stand for labels; one that is neither box nor label is a bend."""
        self.ways: dict[int, Way] = {}
        """By line; lines from a box to itself have none."""

    def add(self, rank: int, width: float, height: float, loops: float = 0) -> int:
        """Add a vertex, with room for loops at its right, and return its number."""
        self.rank.append(rank)
        self.left.append(width / 2)
        self.right.append(width / 2 + loops)
        self.height.append(height)
        self.above.append([])
        self.below.append([])
        return len(self.rank) - 1

    def join(self, upper: int, lower: int) -> None:
        """Join two vertices of neighbouring ranks."""
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def column(self, rank: int) -> int:
        """Return the column in which a rank is."""
        return bisect_right(self.first, rank) - 1

    def ranks(self) -> list[list[int]]:
        """Return the vertices of each rank, in the order in which they were added."""
        found: list[list[int]] = [[] for _ in range(max(self.rank, default=-1) + 1)]
        for vertex, rank in enumerate(self.rank):
            found[rank].append(vertex)
        return found


def mesh_of(picture: Picture, faces: Mapping[str, Face], labels: Mapping[int, Face]) -> Mesh:
    """Return the mesh of a picture; `labels` are the faces of those lines that bear one."""
    number = {name: at for at, name in enumerate(picture.boxes)}
    arcs = [(number[line.source], number[line.target]) for line in picture.lines]
    starts = [number[name] for name, box in picture.boxes.items() if box.role is Role.START]
    back = backward(len(number), arcs, starts)
    turned = [(target, source) if at in back else (source, target) for at, (source, target) in enumerate(arcs)]
    widest = max(8, round(1.3 * sqrt(len(number))))  # boxes on one level
    level = levels(len(number), [each for each in turned if each[0] != each[1]], widest, starts)
    mesh = _boxes(picture, faces, loops_of(picture, labels), level, turned)
    lay = _Lay(mesh, turned)
    for at, line in enumerate(picture.lines):
        if turned[at][0] != turned[at][1]:
            key = f"{line.stroke} {line.fate}", picture.boxes[line.source].is_reached, at in back
            mesh.ways[at] = lay.way(at, key, labels.get(at))
    # make one line to the next level straight for each box, the first that is written
    taken: set[tuple[int, bool]] = set()
    for way in sorted(mesh.ways.values(), key=lambda each: each.is_upward):
        upper, lower = (way.steps[0], False), (way.steps[-1], True)
        if len(way.steps) == _SHORT and not taken & {upper, lower}:
            taken |= {upper, lower}
            mesh.heavy[way.steps[0], way.label] = mesh.heavy[way.label, way.steps[-1]] = HEAVY
    return mesh


def _boxes(
    picture: Picture, faces: Mapping[str, Face], loops: Mapping[str, Size], level: list[int], arcs: list[Arc]
) -> Mesh:
    """Return a mesh of boxes only; above and below each column there is a rank for labels."""
    mesh = Mesh(len(level))
    sizes = [(face.width + SPACE, face.height) for face in faces.values()]
    columns = fold(level, sizes, arcs)
    mesh.first += [2 * (first + index) - 1 for index, first in enumerate(columns) if index]
    for name, at, (wide, high) in zip(picture.boxes, level, sizes, strict=True):
        width, height = loops.get(name, (0.0, 0.0))
        mesh.add(2 * (at + bisect_right(columns, at) - 1), wide, max(high, height), width)
    return mesh


def loops_of(picture: Picture, labels: Mapping[int, Face]) -> dict[str, Size]:
    """Return the room that the lines from a box to itself take at its right: width and height."""
    found: dict[str, tuple[float, float]] = {}
    for at, line in enumerate(picture.lines):
        if line.source == line.target:
            face = labels.get(at, Face(0, 0, ()))
            width, height = found.get(line.source, (0.0, 0.0))
            found[line.source] = max(width, LOOP + face.width), height + face.height + 4
    return found


def _longest(spans: list[int], count: int) -> int:
    """Return the most ranks that a line may cross without the bends of all such lines becoming too many."""
    left = _MOST_BENDS * (len(spans) + count) + 4_000
    for span in sorted(spans):
        left -= span
        if left < 0:
            return span - 1
    return max(spans, default=0)


class _Lay:
    """Lays lines into a mesh."""

    def __init__(self, mesh: Mesh, arcs: list[Arc]) -> None:
        self.mesh = mesh
        self.arcs = arcs
        self.column = [mesh.column(rank) for rank in mesh.rank]
        inside = [(upper, lower) for upper, lower in arcs if self.column[upper] == self.column[lower]]
        self.longest = max(2, _longest([mesh.rank[lower] - mesh.rank[upper] for upper, lower in inside], mesh.boxes))
        self.degree = [len(one) + len(other) for one, other in zip(*neighbours(mesh.boxes, arcs), strict=True)]
        self.shared: dict[tuple[int, Key, int], int] = {}
        self.joined: set[Arc] = set()

    def way(self, at: int, key: Key, face: Face | None) -> Way:
        """Add what a line passes on its way; its label is next to where it begins, unless too many begin there."""
        upper, lower = self.arcs[at]
        is_upward = key[-1]
        source, target = (lower, upper) if is_upward else (upper, lower)
        is_crowded = self.degree[source] > max(_CROWD, self.degree[target])
        near, far = (target, source) if is_crowded else (source, target)
        width, height = (face.width + SPACE, face.height) if face else (_BEND_SPACE, 0.0)
        label = self.mesh.add(self.mesh.rank[near] + (1 if near == upper else -1), width, height)
        self.mesh.labels.add(label)
        if self._is_aside(upper, lower):
            steps: tuple[int, ...] = (upper, label) if near == upper else (label, lower)
        else:
            steps = (upper, *self._between(label, (upper, lower), far, key), lower)
        self._join(steps)
        return Way(steps, label, source, key, far if self._is_aside(upper, lower) else None, far == target)

    def _is_aside(self, upper: int, lower: int) -> bool:
        is_long = self.mesh.rank[lower] - self.mesh.rank[upper] > self.longest
        return is_long or self.column[upper] != self.column[lower]

    def _between(self, label: int, ends: Arc, far: int, key: Key) -> Iterator[int]:
        """Yield the vertices between the ends of a line: its label, and bends that all lines of the same key share."""
        for rank in range(self.mesh.rank[ends[0]] + 1, self.mesh.rank[ends[1]]):
            if rank == self.mesh.rank[label]:
                yield label
            else:
                bend = self.shared.get((far, key, rank))
                if bend is None:
                    bend = self.shared[far, key, rank] = self.mesh.add(rank, _BEND_SPACE, 0.0)
                yield bend

    def _join(self, steps: tuple[int, ...]) -> None:
        for joined in pairwise(steps):
            if joined not in self.joined:
                self.joined.add(joined)
                self.mesh.join(*joined)


_SWEEPS, _BALANCED = 7, 3
"""How often all ranks are placed; in the last of these sweeps with a view to both sides."""
_STRAIGHT, _COORDINATES_NEAR = 8.0, 1.0
"""The weights of bends to be straight above each other, and of boxes to be in the middle of their neighbours."""
_LOOSE = 0.05
"""The weight of a vertex without neighbours on one side to stay."""


class Pulls(NamedTuple):
    """The pulls on a vertex: parts that are one together, and the sum of pulls."""

    parts: list[tuple[int, float]]
    weight: float


def across(mesh: Mesh, ranks: list[list[int]]) -> list[float]:
    """Return how far from the left the middle of each vertex is, the leftmost reach in its column being zero."""
    at = [0.0] * len(mesh.rank)
    offsets: list[list[float]] = []
    for rank in ranks:
        offsets.append([0.0] if rank else [])  # where they stand when they touch each other, the first at zero
        for left, right in pairwise(rank):
            offsets[-1].append(offsets[-1][-1] + mesh.right[left] + mesh.left[right])
    for rank, offset in zip(ranks, offsets, strict=True):
        for vertex, each in zip(rank, offset, strict=True):
            at[vertex] = each - offset[-1] / 2
    pulls = [_pulls(mesh, sides) for sides in ((mesh.above,), (mesh.below,), (mesh.above, mesh.below))]
    order = list(zip(ranks, offsets, strict=True))
    for sweep in range(_SWEEPS):
        own = pulls[sweep % 2 if sweep < _SWEEPS - _BALANCED else 2]
        for rank, offset in order if sweep % 2 == 0 else reversed(order):
            _place(rank, offset, own, at)
    straighten(mesh, ranks, at)
    first = [inf] * len(mesh.first)
    column = [mesh.column(rank) for rank in mesh.rank]
    for vertex, each in enumerate(at):
        first[column[vertex]] = min(first[column[vertex]], each - mesh.left[vertex])
    return [each - first[column[vertex]] for vertex, each in enumerate(at)]


def _pulls(mesh: Mesh, sides: tuple[list[list[int]], ...]) -> list[Pulls]:
    """Return by what each vertex is pulled: parts of one, and how much it is pulled in all."""
    found = []
    for vertex in range(len(mesh.rank)):
        joined = [each for side in sides for each in side[vertex]]
        weights = [_weight(mesh, vertex, each, len(joined)) for each in joined]
        total = fsum(weights)
        found.append(Pulls([(each, own / total) for each, own in zip(joined, weights, strict=True)], total or _LOOSE))
    return found


def _weight(mesh: Mesh, vertex: int, other: int, count: int) -> float:
    """Return how much a vertex is pulled by one of the `count` that it joins."""
    upper, lower = (vertex, other) if mesh.rank[vertex] < mesh.rank[other] else (other, vertex)
    is_alone = len(mesh.below[upper]) == len(mesh.above[lower]) == 1
    if min(upper, lower) >= mesh.boxes and (is_alone or not {upper, lower} & mesh.labels):
        return _STRAIGHT
    return mesh.heavy.get((upper, lower), _COORDINATES_NEAR / count)


def _place(rank: list[int], offsets: list[float], pulls: list[Pulls], at: list[float]) -> None:
    """Move the vertices of a rank to where they want to be, as near as their order and their widths let them.

    Without widths this is isotonic regression: neighbours that want to pass each other form a block, at the mean of
    their wishes.
    """
    blocks: list[tuple[float, float, int]] = []
    for vertex, offset in zip(rank, offsets, strict=True):
        parts, weight = pulls[vertex]
        place = fsum([at[other] * part for other, part in parts]) if parts else at[vertex]
        total, count = (place - offset) * weight, 1
        while blocks and blocks[-1][0] * weight >= total * blocks[-1][1]:
            before, more, members = blocks.pop()
            total, weight, count = total + before, weight + more, count + members
        blocks.append((total, weight, count))
    index = 0
    for total, weight, count in blocks:
        for _ in range(count):
            at[rank[index]] = total / weight + offsets[index]
            index += 1


STUB = 9.0
"""How far lines run straight before they meet a box: as far as their heads are long."""
_GAP, _MOST_GAP = 13.0, 80.0
_STEEP = 0.05
"""The growth of a gap's height for each pixel that a line crosses sideways in it."""
_ASIDE = 18.0
"""More height of a gap in which lines leave for the border."""
SPREAD = 5
"""Lines that leave for the border in one gap do so at so many heights."""


@value
class Bands:
    """The top and the bottom of each rank, the ranks where columns begin; half the height and the width of each box."""

    top: Sequence[float]
    bottom: Sequence[float]
    first: Sequence[int]
    half: Sequence[float]
    width: Sequence[float]

    def between(self, rank: int, number: int) -> float:
        """Return a height in the gap below a rank, or above the next column; another one for lines of other numbers."""
        begins = rank + 1 in self.first
        upper = self.top[rank + 1] - STUB - _GAP - _ASIDE if begins else self.bottom[rank]
        lower = self.top[rank + 1] if rank + 1 < len(self.top) else self.bottom[rank] + STUB + _GAP + _ASIDE
        upper, lower = (upper, lower - STUB) if rank % 2 else (upper + STUB, lower)  # boxes stand on even ranks
        return upper + (lower - upper) * (number % SPREAD + 1) / (SPREAD + 1)


def down(mesh: Mesh, at: Sequence[float], faces: Mapping[str, Face], leaving: Iterable[int]) -> Bands:
    """Return the bounds of ranks; `leaving` are the ranks below which lines leave for the border.

    Every column begins at the top.
    """
    ranks, wide = mesh.ranks(), set(leaving)
    top, bottom = [], []
    y = 0.0
    for index, rank in enumerate(ranks):
        if index in mesh.first:
            y = STUB + _GAP + _ASIDE if index - 1 in wide else 0.0
        top.append(y)
        y += max((mesh.height[each] for each in rank), default=0.0)
        bottom.append(y)
        far = max((abs(at[each] - at[below]) for each in rank for below in mesh.below[each]), default=0.0)
        y += STUB + min(_MOST_GAP, _GAP + _STEEP * far) + (_ASIDE if index in wide else 0)
    half, width = [each.height / 2 for each in faces.values()], [each.width for each in faces.values()]
    return Bands(top, bottom, mesh.first, half, width)


_FAR = 1e9
"""Farther away than anything is."""
_ROUNDS = 2
"""Labels move to their boxes first, then what they lead to can move to them."""


def straighten(mesh: Mesh, ranks: list[list[int]], at: list[float]) -> None:
    """Move bends and labels that follow each other onto one vertical where their neighbours leave room for it."""
    # what stands at the left and at the right of each vertex, -1 where nothing does
    count = len(mesh.rank)
    beside = [(-1, -1)] * count
    for rank in ranks:
        for left, vertex, right in zip([-1, *rank], rank, [*rank[1:], -1], strict=False):
            beside[vertex] = left, right
    for _ in range(_ROUNDS):
        _straighten(mesh, ranks, beside, at)


def _straighten(mesh: Mesh, ranks: list[list[int]], beside: list[tuple[int, int]], at: list[float]) -> None:
    seen = [False] * len(mesh.rank)
    for vertex in (each for rank in ranks for each in rank if each >= mesh.boxes):
        chain: list[int] = []
        low, high = -_FAR, _FAR
        # a vertex and the bends and labels below it, one below the other, unless they have been seen
        left = [vertex]
        while left and not seen[left[0]]:
            seen[left[0]] = True
            each = left[0]
            least, most = _room(mesh, each, beside[each], at)
            if max(low, least) > min(high, most):
                _align(mesh, chain, (low, high), at)
                chain, low, high = [], least, most
            chain.append(each)
            low, high = max(low, least), min(high, most)
            left = [each for each in mesh.below[left[0]] if each >= mesh.boxes and not seen[each]]
        _align(mesh, chain, (low, high), at)


def _room(mesh: Mesh, vertex: int, beside: tuple[int, int], at: list[float]) -> tuple[float, float]:
    """Return how far to the left and to the right a vertex can be moved."""
    left, right = beside
    least = at[left] + mesh.right[left] + mesh.left[vertex] if left >= 0 else -_FAR
    most = at[right] - mesh.left[right] - mesh.right[vertex] if right >= 0 else _FAR
    return min(least, at[vertex]), max(most, at[vertex])


def _align(mesh: Mesh, chain: list[int], room: tuple[float, float], at: list[float]) -> None:
    """Move what follows each other onto one vertical, near all that it joins besides."""
    if chain:
        own = set(chain)
        joined = [other for each in chain for other in (*mesh.above[each], *mesh.below[each]) if other not in own]
        if len(chain) == 1:
            joined = [other for other in joined if other < mesh.boxes] or joined
        places = sorted(at[other] for other in joined)
        middle = places[len(places) // 2] if places else at[chain[0]]
        for each in chain:
            at[each] = min(max(middle, room[0]), room[1])
