"""Bends that follow each other, moved onto as few verticals as there is room for."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.picture.layout.mesh import Mesh

_FAR = 1e9
"""Farther away than anything is."""
_ROUNDS = 2
"""Labels move to their boxes first, then what they lead to can move to them."""


def straighten(mesh: Mesh, ranks: list[list[int]], at: list[float]) -> None:
    """Move bends and labels that follow each other onto one vertical where their neighbours leave room for it."""
    beside = _beside(ranks, len(mesh.rank))
    for _ in range(_ROUNDS):
        _straighten(mesh, ranks, beside, at)


def _straighten(mesh: Mesh, ranks: list[list[int]], beside: list[tuple[int, int]], at: list[float]) -> None:
    seen = [False] * len(mesh.rank)
    for vertex in (each for rank in ranks for each in rank if each >= mesh.boxes):
        chain: list[int] = []
        low, high = -_FAR, _FAR
        for each in _following(mesh, vertex, seen):
            least, most = _room(mesh, each, beside[each], at)
            if max(low, least) > min(high, most):
                _align(mesh, chain, (low, high), at)
                chain, low, high = [], least, most
            chain.append(each)
            low, high = max(low, least), min(high, most)
        _align(mesh, chain, (low, high), at)


def _following(mesh: Mesh, vertex: int, seen: list[bool]) -> Iterator[int]:
    """Yield a vertex and the bends and labels below it, one below the other, unless they have been seen."""
    left = [vertex]
    while left and not seen[left[0]]:
        seen[left[0]] = True
        yield left[0]
        left = [each for each in mesh.below[left[0]] if each >= mesh.boxes and not seen[each]]


def _beside(ranks: list[list[int]], count: int) -> list[tuple[int, int]]:
    """Return what stands at the left and at the right of each vertex, -1 where nothing does."""
    beside = [(-1, -1)] * count
    for rank in ranks:
        for left, vertex, right in zip([-1, *rank], rank, [*rank[1:], -1], strict=False):
            beside[vertex] = left, right
    return beside


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
