"""Lanes along the left and right border, for lines too long to be led through the picture."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping

from stagec.core.value import value
from stagec.picture.document import Picture
from stagec.picture.layout.mesh import Mesh, Way

LANE = 8.0
"""Between two lanes."""
_MOST = 150
"""Lanes on one side; more lines than that share them."""


Key = tuple[bool, int, str]
"""Lines that share a lane: whether they lead upwards, the box they lead to or come from, the kind of line."""


@value
class Lane:
    """Where a line runs aside: its number and place, the rank below which it meets it, and the box at its far end."""

    number: int
    x: float
    meets: int
    far: int
    is_above: bool
    """Whether the far end is above the other."""


def lanes(picture: Picture, mesh: Mesh, width: float) -> tuple[dict[int, Lane], float, float]:
    """Return the lanes by line, and how much room they take at the left and at the right of what is `width` wide.

    Lines that run upwards do so at the left.
    """
    shared: dict[Key, list[int]] = {}
    for at, way in mesh.ways.items():
        if way.far is not None:
            shared.setdefault((way.is_upward, way.far, picture.lines[at].stroke.value), []).append(at)
    found: dict[int, Lane] = {}
    room = {True: 0.0, False: 0.0}
    for is_upward in (True, False):
        for number, key in _numbered(mesh, {key: each for key, each in shared.items() if key[0] is is_upward}):
            away = LANE * (number % _MOST + 2)
            room[is_upward] = max(room[is_upward], away)
            for at in shared[key]:
                found[at] = _lane(mesh, mesh.ways[at], number, -away if is_upward else width + away)
    return found, room[True], room[False]


def _lane(mesh: Mesh, way: Way, number: int, x: float) -> Lane:
    far, rank = way.far or 0, mesh.rank[way.label]
    is_above = mesh.rank[far] < rank
    return Lane(number, x, rank - is_above, far, is_above)


def _numbered(mesh: Mesh, shared: Mapping[Key, list[int]]) -> Iterator[tuple[int, Key]]:
    """Give those that share a lane the first that is free from their first to their last rank."""
    ranks = {key: [mesh.rank[key[1]], *(mesh.rank[mesh.ways[at].label] for at in own)] for key, own in shared.items()}
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for first, last, key in sorted((min(each), max(each), key) for key, each in ranks.items()):
        while busy and busy[0][0] < first:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free, used = [used], used + 1
        number = heapq.heappop(free)
        heapq.heappush(busy, (last, number))
        yield number, key
