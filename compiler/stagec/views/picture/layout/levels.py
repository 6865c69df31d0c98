"""Finds backward lines, the level of each box, and its column in a tall drawing."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import fsum, sqrt

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

    Where there is no room, what follows a vertex is placed before the next vertex is, so that they stay together.
    What is reached from nothing stands right above what it leads to, but for the vertices named `first`.
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
    """Return what stands above and what stands below each vertex."""
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
"""What lines and labels add to the height of a level and to the width of a column, about."""
_NEAR = 0.15
"""How much a column may be higher or lower than others, so that it ends where few lines pass."""

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
    return sorted({0, *(_cut(reached, passing, high * at / count, _NEAR * high / count) for at in range(1, count))})


def _cut(reached: list[float], passing: list[int], wanted: float, near: float) -> int:
    """Return the level that begins near a height and that fewest lines pass, the nearest of several such."""
    first, last = (bisect_left(reached, each) + 1 for each in (wanted - near, wanted + near))
    levels = range(max(1, first), max(first + 1, min(last + 1, len(reached))))
    return min(levels, key=lambda at: (passing[at], abs(reached[at - 1] - wanted)))
