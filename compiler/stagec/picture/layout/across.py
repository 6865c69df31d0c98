"""Where vertices stand on their ranks: near what they join, never too close to each other."""

from __future__ import annotations

from itertools import pairwise
from math import fsum, inf
from typing import NamedTuple

from stagec.picture.layout.mesh import Mesh
from stagec.picture.layout.straight import straighten

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
    offsets = [_packed(mesh, rank) for rank in ranks]
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


def _packed(mesh: Mesh, rank: list[int]) -> list[float]:
    """Return where the vertices of a rank stand when they touch each other, the first at zero."""
    offsets = [0.0] if rank else []
    for left, right in pairwise(rank):
        offsets.append(offsets[-1] + mesh.right[left] + mesh.left[right])
    return offsets


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
