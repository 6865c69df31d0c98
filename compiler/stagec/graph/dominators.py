"""Which nodes are on every way to another one: the algorithm of Lengauer and Tarjan, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagec.core.components import Neighbours

_NONE = -1


class Dominators:
    """The nodes of a graph by what has to come before them.

    A node that no root leads to is not in the tree, and nothing is asked of it.
    """

    def __init__(self, leads: Neighbours, roots: Iterable[int]) -> None:
        closest = _Search([*leads, list(roots)]).closest()
        below: Neighbours = [[] for _ in closest]
        for node, above in enumerate(closest):
            if above != _NONE:
                below[above].append(node)
        self._first, self._last = _number(below, len(leads))

    def is_reached(self, node: int) -> bool:
        """Tell whether some root leads to a node."""
        return self._first[node] != _NONE

    def is_before(self, node: int, other: int) -> bool:
        """Tell whether every way from a root to another node comes by this one first; no node comes before itself."""
        return node != other and self._first[node] <= self._first[other] < self._last[node]


def _number(below: Neighbours, root: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return a number for each node of a tree, and the one behind the numbers of all nodes below it."""
    first, last = [_NONE] * len(below), [0] * len(below)
    count, todo = 0, [root]
    while todo:
        node = todo[-1]
        if first[node] == _NONE:
            first[node] = count
            count += 1
            todo.extend(below[node])
        else:
            last[todo.pop()] = count
    return first, last


class _Search:
    """Nodes by the number at which they are found; the last node of the graph is its only root.

    `early` is the number of the earliest node from which a way leads to a node by later ones only.
    """

    def __init__(self, leads: Neighbours) -> None:
        self._leads = leads
        self._found: list[int] = []
        self._number = [_NONE] * len(leads)
        self._parent = [_NONE] * len(leads)
        self._before: Neighbours = [[] for _ in leads]
        self._walk(len(leads) - 1)
        self._early: list[int] = [*self._number]
        self._above: list[int] = [_NONE] * len(leads)
        self._best: list[int] = [*range(len(leads))]

    def closest(self) -> Sequence[int]:
        """Return for each node the last one on every way to it; `-1` for the root and what it never leads to."""
        closest = [_NONE] * len(self._leads)
        waiting: Neighbours = [[] for _ in self._leads]
        for node in reversed(self._found[1:]):
            parent = self._parent[node]
            self._early[node] = min(self._early[self._evaluate(each)] for each in self._before[node])
            waiting[self._found[self._early[node]]].append(node)
            self._above[node] = parent
            for each in waiting[parent]:
                best = self._evaluate(each)
                closest[each] = best if self._early[best] < self._early[each] else parent
            waiting[parent].clear()
        for node in self._found[1:]:
            if closest[node] != self._found[self._early[node]]:
                closest[node] = closest[closest[node]]
        return closest

    def _walk(self, root: int) -> None:
        """Find what the root leads to, each node before what it leads to itself."""
        self._enter(root)
        trail = [(root, iter(self._leads[root]))]
        while trail:
            node, rest = trail[-1]
            target = next(rest, None)
            if target is None:
                trail.pop()
                continue
            self._before[target].append(node)
            if self._number[target] == _NONE:
                self._parent[target] = node
                self._enter(target)
                trail.append((target, iter(self._leads[target])))

    def _enter(self, node: int) -> None:
        self._number[node] = len(self._found)
        self._found.append(node)

    def _evaluate(self, node: int) -> int:
        """Return the node of the least `early` on the way up from a node, and shorten that way."""
        above, best = self._above, self._best
        way = [node]
        while above[way[-1]] != _NONE:
            way.append(above[way[-1]])
        way.pop()
        for lower, upper in zip(reversed(way[:-1]), reversed(way), strict=False):
            if self._early[best[upper]] < self._early[best[lower]]:
                best[lower] = best[upper]
            above[lower] = above[upper]
        return best[node]
