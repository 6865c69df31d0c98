"""Orders, longest chains and gaps of nodes that wait for each other, in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stagec.core.value import value

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


_ANCESTRY_AT_ONCE = 4096
"""Ancestors that are looked for in one pass, each by a bit of an integer."""


def find_unrelated(needs: Neighbours, order: Sequence[int], pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of a node and another one in which the other one is not before the node.

    `needs` are what is directly before each node, `order` has each node after all that is before it. What is directly
    before a node costs no pass.
    """
    wanted: dict[int, list[int]] = {}
    for node, other in pairs:
        if other not in needs[node]:
            wanted.setdefault(other, []).append(node)
    found: set[tuple[int, int]] = set()
    every = list(wanted)
    for start in range(0, len(every), _ANCESTRY_AT_ONCE):
        chosen = every[start : start + _ANCESTRY_AT_ONCE]
        bits = {other: 1 << place for place, other in enumerate(chosen)}
        before = [0] * len(needs)
        for node in order:
            mask = 0
            for each in needs[node]:
                mask |= before[each] | bits.get(each, 0)
            before[node] = mask
        found.update((node, other) for other, bit in bits.items() for node in wanted[other] if not before[node] & bit)
    return found


_PRECEDENCE_AT_ONCE = 4096
"""Nodes whose followers are counted in one pass, each by a bit of an integer."""


@value
class LongestChain:
    """Nodes that wait for each other, one after the other, and how long they take together."""

    nodes: tuple[int, ...]
    length: int


class Precedence:
    """Nodes as small integers, and for each those that it needs directly.

    `order` has each node after all that it needs; it is empty if some wait for each other.
    """

    def __init__(self, needs: Neighbours) -> None:
        self.needs = needs
        found = list(components(needs))
        is_endless = len(found) < len(needs) or any(repeats(needs, each) for each in found if each[0] in needs[each[0]])
        self.order: Sequence[int] = () if is_endless else [each[0] for each in found]

    def find_ends(self, times: Sequence[int]) -> list[int]:
        """Return when each node ends at the earliest, if all begin as soon as what they need has ended."""
        ends, needs = [0] * len(self.needs), self.needs
        for node in self.order:
            ends[node] = times[node] + max([ends[each] for each in needs[node]], default=0)
        return ends

    def find_longest(self, times: Sequence[int]) -> LongestChain:
        """Return the chain that takes longest: the critical path."""
        return self.trace(self.find_ends(times))

    def trace(self, ends: Sequence[int]) -> LongestChain:
        """Return the chain that ends last, of several equal ones that of the first nodes."""
        node = max(self.order, key=ends.__getitem__, default=None)
        length, way = 0 if node is None else ends[node], list[int]()
        while node is not None:
            way.append(node)
            node = max(self.needs[node], key=ends.__getitem__, default=None)
        return LongestChain(tuple(reversed(way)), length)

    def find_gap(self, times: Sequence[int], is_kept: Sequence[bool]) -> LongestChain:
        """Return the longest chain of nodes whose results are lost together: all but its last one are not kept."""
        lost, last = [0] * len(self.needs), [-1] * len(self.needs)
        for node in self.order:
            open_ones = [each for each in self.needs[node] if not is_kept[each]]
            last[node] = max(open_ones, key=lost.__getitem__, default=-1)
            lost[node] = times[node] + (lost[last[node]] if open_ones else 0)
        node = max(self.order, key=lost.__getitem__, default=-1)
        length, way = lost[node] if self.order else 0, list[int]()
        while node >= 0:
            way.append(node)
            node = last[node]
        return LongestChain(tuple(reversed(way)), length)

    def find_tails(self, times: Sequence[int]) -> list[int]:
        """Return how long the longest chain takes that begins with each node."""
        tails = [*times]
        for node in reversed(self.order):
            for each in self.needs[node]:
                tails[each] = max(tails[each], times[each] + tails[node])
        return tails

    def count_followers(self) -> list[int]:
        """Return how many nodes need each node, directly or not; a pass for each 4,096 nodes."""
        found = [0] * len(self.needs)
        for start in range(0, len(self.needs), _PRECEDENCE_AT_ONCE):
            after = [0] * len(self.needs)
            for node in reversed(self.order):
                own = after[node] | (1 << (node - start) if start <= node < start + _PRECEDENCE_AT_ONCE else 0)
                for each in self.needs[node]:
                    after[each] |= own
            for node, bits in enumerate(after):
                found[node] += bits.bit_count()
        return found

    def list_levels(self) -> list[list[int]]:
        """Return the nodes by the longest chain before them: no node of a level needs another one of it."""
        depths = [end - 1 for end in self.find_ends([1] * len(self.needs))]
        levels: list[list[int]] = [[] for _ in range(max(depths, default=-1) + 1)]
        for node in self.order:
            levels[depths[node]].append(node)
        return levels

    def find_concurrent(self, pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of which neither needs the other one, directly or not."""
        asked = dict.fromkeys(pair for pair in pairs if pair[0] != pair[1])
        unrelated = find_unrelated(self.needs, self.order, [*asked, *((other, one) for one, other in asked)])
        yield from ((one, other) for one, other in asked if {(one, other), (other, one)} <= unrelated)


def order_names(needs: Mapping[str, Sequence[str]]) -> Precedence:
    """Return the precedence of names that need others of them, each by its place among them."""
    index = {name: at for at, name in enumerate(needs)}
    return Precedence([[index[each] for each in needed] for needed in needs.values()])
