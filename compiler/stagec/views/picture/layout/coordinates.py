"""Where vertices and ranks stand: near what they join, never too close, with bends on few verticals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import fsum, inf
from typing import NamedTuple

from stagec.core.value import value
from stagec.views.picture.layout.document import Face
from stagec.views.picture.layout.mesh import Mesh

_SWEEPS, _BALANCED = 7, 3
"""How often all ranks are placed; in the last of these sweeps with a view to both sides."""
_STRAIGHT, _NEAR = 8.0, 1.0
"""How much bends want to be straight above each other, and boxes to be in the middle of what they join."""
_LOOSE = 0.05
"""How much that which joins nothing on one side wants to stay."""


class Pulls(NamedTuple):
    """What pulls a vertex: parts that are one together, and how much it is pulled in all."""

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
    return mesh.heavy.get((upper, lower), _NEAR / count)


def _place(rank: list[int], offsets: list[float], pulls: list[Pulls], at: list[float]) -> None:
    """Move the vertices of a rank to where they want to be, as near as their order and their widths let them.

    Without widths that is a regression that must not fall: neighbours who want to pass each other form a block, and
    a block stands where its members want to be on average.
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
"""How much higher a gap is for each pixel that a line crosses sideways in it."""
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
    """Return where ranks begin and end; `leaving` are the ranks below which lines leave for the border.

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
