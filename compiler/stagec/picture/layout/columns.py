"""Where a drawing that would be much higher than wide continues in a column of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import fsum, sqrt

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
    passing = _passing(level, arcs, len(widths))
    return sorted({0, *(_cut(reached, passing, high * at / count, _NEAR * high / count) for at in range(1, count))})


def _passing(level: Sequence[int], arcs: Iterable[tuple[int, int]], count: int) -> list[int]:
    """Return how many lines pass the upper end of each level."""
    changes = [0] * (count + 1)
    for upper, lower in arcs:
        changes[level[upper] + 1] += 1
        changes[level[lower] + 1] -= 1
    return list(accumulate(changes))


def _cut(reached: list[float], passing: list[int], wanted: float, near: float) -> int:
    """Return the level that begins near a height and that fewest lines pass, the nearest of several such."""
    first, last = (bisect_left(reached, each) + 1 for each in (wanted - near, wanted + near))
    levels = range(max(1, first), max(first + 1, min(last + 1, len(reached))))
    return min(levels, key=lambda at: (passing[at], abs(reached[at - 1] - wanted)))
