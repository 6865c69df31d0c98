"""Strongly connected components: Tarjan's algorithm as Nuutila shortened it, without recursion."""

from __future__ import annotations

from collections.abc import Iterator

Neighbours = list[list[int]]
"""For each node the nodes it leads to."""

_DONE = 1 << 62
"""The number of a node whose component is known: larger than any other."""


def components(leads: Neighbours) -> Iterator[list[int]]:
    """Yield the components, each after all it leads to, each sorted; linear."""
    if all(not targets or max(targets) < node for node, targets in enumerate(leads)):
        yield from ([node] for node in range(len(leads)))  # each leads only to nodes before it
        return
    search = _Search(leads)
    for root in range(len(leads)):
        if not search.low[root]:
            yield from search.walk(root)


def repeats(leads: Neighbours, component: list[int]) -> bool:
    """Tell whether a component leads back into itself."""
    return len(component) > 1 or component[0] in leads[component[0]]


class _Search:
    """The state of one search: `low` is 0 for a node not seen, else the earliest node known to be on a way from it."""

    def __init__(self, leads: Neighbours) -> None:
        self.leads = leads
        self.number = [0] * len(leads)
        self.low = [0] * len(leads)
        self.seen = 0
        self.open: list[int] = []

    def walk(self, root: int) -> Iterator[list[int]]:
        trail, rest = [self._enter(root)], [iter(self.leads[root])]
        low = self.low
        while trail:
            for target in rest[-1]:
                if not low[target]:
                    trail.append(self._enter(target))
                    rest.append(iter(self.leads[target]))
                    break
            else:
                rest.pop()
                yield from self._leave(trail.pop())

    def _enter(self, node: int) -> int:
        self.seen += 1
        self.number[node] = self.low[node] = self.seen
        return node

    def _leave(self, node: int) -> Iterator[list[int]]:
        low, number = self.low, self.number[node]
        low[node] = min([number, *[low[target] for target in self.leads[node]]])
        self.open.append(node)
        if low[node] == number:
            found = []
            while self.open and self.number[self.open[-1]] >= number:
                found.append(self.open.pop())
            for each in found:
                low[each] = _DONE
            yield sorted(found)
