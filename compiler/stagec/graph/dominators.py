"""Immediate dominators by Semi-NCA, nearly linear also where every node leads to one closure.

After L. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagec.core.components import Neighbours
from stagec.core.value import value


@value
class Dominators:
    """For each node that ways lead to its immediate dominator, and where its part of the tree begins and ends."""

    above: Mapping[int, int]
    first: Mapping[int, int]
    last: Mapping[int, int]

    def dominates(self, node: int, other: int) -> bool:
        """Tell whether every way to `other` passes `node`."""
        if node not in self.first or other not in self.first:
            return False
        return self.first[node] <= self.first[other] <= self.last[node]


def dominators(moves: Neighbours, roots: Sequence[int]) -> Dominators:
    """Find the dominators of all that ways from the roots lead to; -1 stands before the roots."""
    order, parent = _depth_first(moves, roots)
    number = {node: at for at, node in enumerate(order)}
    before: Neighbours = [[] for _ in order]
    for source in range(1, len(order)):
        for target in moves[order[source]]:
            before[number[target]].append(source)
    for root in roots:
        before[number[root]].append(0)
    above = _nearest(parent, _semidominators(parent, before))
    size = [1] * len(order)
    for at in range(len(order) - 1, 0, -1):
        size[above[at]] += size[at]
    return _numbered(order, above, size)


def _depth_first(moves: Neighbours, roots: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the nodes as they are first seen, -1 before all, and the number of each one's parent."""
    order, parent, seen = [-1], [0], set[int]()
    todo = [(root, 0) for root in reversed(roots)]
    while todo:
        node, above = todo.pop()
        if node not in seen:
            seen.add(node)
            here = len(order)
            order.append(node)
            parent.append(above)
            todo.extend([(target, here) for target in reversed(moves[node]) if target not in seen])
    return order, parent


def _semidominators(parent: Sequence[int], before: Neighbours) -> list[int]:
    semi = list(range(len(parent)))
    forest = (semi, list(semi), list(parent))
    for at in range(len(parent) - 1, 0, -1):
        known = [source if source <= at else semi[_lowest(source, at, forest)] for source in before[at]]
        semi[at] = min(at, *known)
    return semi


def _lowest(node: int, least: int, forest: tuple[list[int], list[int], list[int]]) -> int:
    """Return what has the lowest semidominator from a node up to the last above `least`, and shorten the way."""
    semi, label, link = forest
    trail = []
    while link[node] > least:
        trail.append(node)
        node = link[node]
    for below in reversed(trail):
        if semi[label[node]] < semi[label[below]]:
            label[below] = label[node]
        link[below] = link[node]
        node = below
    return label[node]


def _nearest(parent: Sequence[int], semi: Sequence[int]) -> list[int]:
    above = list(parent)
    for at in range(1, len(parent)):
        found = above[at]
        while found > semi[at]:
            found = above[found]
        above[at] = found
    return above


def _numbered(order: Sequence[int], above: Sequence[int], size: Sequence[int]) -> Dominators:
    """Return the tree numbered so that what a node dominates is one stretch of numbers."""
    free = [1] * len(order)
    first = [0] * len(order)
    for at in range(1, len(order)):
        over = above[at]
        first[at] = first[over] + free[over]
        free[over] += size[at]
    whole = range(1, len(order))
    return Dominators(
        {order[at]: order[above[at]] for at in whole},
        {order[at]: first[at] for at in whole},
        {order[at]: first[at] + size[at] - 1 for at in whole},
    )
