"""Few paths through a graph that cover given arcs when a limit on their length is narrow.

The smallest number is hard to find then. A greedy search chooses the best path again and again. Afterwards, it removes
a few paths at a time and searches again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from random import Random

from stagec.core.value import value
from stagec.graph.cover import Leg

_KEPT = 8
"""Beginnings of ways that are followed from one vertex at one cost."""
_ROUNDS = 60
"""How often paths are searched again without the number becoming smaller."""
_WORK = 100_000
"""Legs times the limit times rounds: where there is more to do, there are fewer rounds."""


@value
class _Begun:
    """A way on its way: where it is, which demanded legs it has taken as bits, and the leg that led here."""

    vertex: int
    taken: int = 0
    leg: int | None = None
    before: _Begun | None = None


class NarrowCover:
    """The ways of a graph from the vertices `starts` to the vertices `ends`, none of which costs more than `limit`."""

    def __init__(self, legs: Sequence[Leg], starts: Iterable[int], ends: Iterable[int], limit: int | None) -> None:
        self._legs, self._starts = legs, tuple(starts)
        self._limit = sum(each.cost for each in legs) if limit is None else limit
        self._leaving: dict[int, list[tuple[int, int, int, int]]] = {}
        demanded = 0
        for at, leg in enumerate(legs):
            bit = 1 << demanded if leg.is_demanded else 0
            demanded += leg.is_demanded
            self._leaving.setdefault(leg.source, []).append((at, leg.target, leg.cost, bit))
        self._all = (1 << demanded) - 1
        self._ends = frozenset(ends)
        self._left = self._measure_left(self._ends)
        self._random = Random(0)

    def _measure_left(self, ends: Iterable[int]) -> dict[int, int]:
        """Return what the cheapest way from each vertex to an end costs."""
        coming: dict[int, list[Leg]] = {}
        for leg in self._legs:
            coming.setdefault(leg.target, []).append(leg)
        found: dict[int, int] = {}
        queue = [(0, each) for each in ends]
        heapify(queue)
        while queue:
            cost, vertex = heappop(queue)
            if vertex not in found:
                found[vertex] = cost
                for leg in coming.get(vertex, ()):
                    heappush(queue, (cost + leg.cost, leg.source))
        return found

    def find(self) -> list[list[int]]:
        """Return ways as the numbers of their legs; a demanded leg is missing where there is no room for it.

        None of a graph that is too large to search it so often.
        """
        rounds = min(_ROUNDS, _WORK // (1 + len(self._legs) * self._limit))
        ways = self._cover(self._all) if rounds else []
        idle = 0
        while len(ways) > 1 and idle < rounds:
            idle += 1
            some = self._random.sample(ways, min(len(ways), self._random.choice((2, 3, 3, 4, 5))))
            kept = [each for each in ways if each not in some]
            covered = 0
            for each in kept:
                covered |= each.taken
            made = self._cover(self._all & ~covered, self._random.getrandbits(self._all.bit_length() or 1))
            if len(made) <= len(some):
                idle = idle if len(made) == len(some) else 0
                ways = [*kept, *made]
        return [self._list_legs(each) for each in ways]

    def _cover(self, left: int, favoured: int = 0) -> list[_Begun]:
        """Return ways that take all of some legs, as far as the limit allows: each takes as many of the rest as it can.

        Legs that are favoured count twice.
        """
        found: list[_Begun] = []
        while left and (best := self._find_best(left, left & favoured)) is not None:
            found.append(best)
            left &= ~best.taken
        return found

    def _find_best(self, left: int, favoured: int) -> _Begun | None:
        """Return a way that takes many of some legs; None where none takes any."""
        best, most = None, 0
        chance = self._random.random
        queue = [(0, 0, chance(), _Begun(each)) for each in self._starts]
        seen: dict[tuple[int, int], set[int]] = {}
        while queue:
            cost, _, _, begun = heappop(queue)
            wanted = begun.taken & left
            known = seen.setdefault((begun.vertex, cost), set())
            if len(known) >= _KEPT or any(wanted | each == each for each in known):
                continue
            known.add(wanted)
            worth = wanted.bit_count() + (wanted & favoured).bit_count()
            if begun.vertex in self._ends and worth > most:
                best, most = begun, worth
            for at, target, price, bit in self._leaving.get(begun.vertex, ()):
                further = cost + price
                if target in self._left and further + self._left[target] <= self._limit:
                    taken = begun.taken | bit
                    worth = (taken & left).bit_count() + (taken & favoured).bit_count()
                    heappush(queue, (further, -worth, chance(), _Begun(target, taken, at, begun)))
        return best

    def _list_legs(self, begun: _Begun) -> list[int]:
        legs: list[int] = []
        here: _Begun | None = begun
        while here is not None and here.leg is not None:
            legs.append(here.leg)
            here = here.before
        return legs[::-1]
