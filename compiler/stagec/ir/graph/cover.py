"""Few ways through a graph that take every arc of some: a flow with lower bounds, split into ways.

The graph may have cycles. Without a limit on the length of ways there are as few as a flow allows: of all cuts, the
one that most of the demanded arcs cross in one direction tells how many ways are needed at least.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any

from stagec.core.value import value

_BEGIN, _STOP = "begin", "stop"
_COVER_ROUNDS = 6
"""How often more ways are tried where all demanded arcs are too many for so few."""


@value
class Leg:
    """An arc of a graph whose vertices have numbers: where it begins and ends, its cost, and whether it is demanded."""

    source: int
    target: int
    cost: int = 1
    is_demanded: bool = True


class WayCover:
    """The ways of a graph from the vertices `starts` to the vertices `ends`, none of which costs more than `limit`."""

    def __init__(self, legs: Sequence[Leg], starts: Iterable[int], ends: Iterable[int], limit: int | None) -> None:
        self._legs, self._limit = legs, limit
        self._starts, self._ends = tuple(starts), tuple(ends)

    def find(self) -> list[list[int]]:
        """Return ways as the numbers of their legs; a demanded leg is missing where there is no room for it."""
        flow, count = self._find_flow(None)
        for _ in range(_COVER_ROUNDS):
            total = sum(self._legs[at].cost * times for at, times in flow.items())
            if self._limit is None or total <= count * self._limit:
                break
            flow, count = self._find_flow(max(count + 1, -(-total // self._limit)))
        return self._join(*self._split(flow))

    def _find_flow(self, count: int | None) -> tuple[dict[int, int], int]:
        """Return how often each leg is taken, and by how many ways: by as few as can be, or by exactly so many."""
        import networkx as nx

        graph: Any = nx.MultiDiGraph()
        many = 1 + 2 * sum(each.cost for each in self._legs) * (1 + len(self._legs))
        demand: dict[Any, int] = dict.fromkeys((_BEGIN, _STOP), 0)
        for at, leg in enumerate(self._legs):
            graph.add_edge(leg.source, leg.target, key=at, weight=leg.cost)
            if leg.is_demanded:
                demand[leg.source] = demand.get(leg.source, 0) + 1
                demand[leg.target] = demand.get(leg.target, 0) - 1
        graph.add_edges_from((_BEGIN, each, {"weight": 0}) for each in self._starts)
        graph.add_edges_from((each, _STOP, {"weight": 0}) for each in self._ends)
        if count is None:
            graph.add_edge(_STOP, _BEGIN, key="back", weight=many)
        else:
            demand[_BEGIN], demand[_STOP] = demand[_BEGIN] - count, demand[_STOP] + count
        nx.set_node_attributes(graph, demand, "demand")
        _, found = nx.network_simplex(graph)
        taken = {at: int(leg.is_demanded) + found[leg.source][leg.target][at] for at, leg in enumerate(self._legs)}
        ways = sum(sum(each.values()) for each in found[_BEGIN].values()) if count is None else count
        return {at: times for at, times in taken.items() if times}, ways

    def _split(self, flow: dict[int, int]) -> tuple[list[list[int]], list[list[int]]]:
        """Return ways without repeated vertices, and cycles, that make a flow together."""
        leaving: dict[int, list[int]] = {}
        balance: dict[int, int] = {}
        for at, times in flow.items():
            leg = self._legs[at]
            leaving.setdefault(leg.source, []).extend([at] * times)
            balance[leg.source] = balance.get(leg.source, 0) + times
            balance[leg.target] = balance.get(leg.target, 0) - times
        begins = [vertex for vertex, surplus in balance.items() for _ in range(surplus)]
        cycles: list[list[int]] = []
        ways = [self._walk(begin, leaving, cycles) for begin in begins]
        for vertex in [*leaving]:
            while leaving[vertex]:
                self._walk(vertex, leaving, cycles)
        return ways, cycles

    def _walk(self, begin: int, leaving: dict[int, list[int]], cycles: list[list[int]]) -> list[int]:
        """Follow legs, which are used up, to where none leaves; cut out each cycle on the way."""
        way: list[int] = []
        places = {begin: 0}
        here = begin
        while leaving.get(here):
            at = leaving[here].pop()
            way.append(at)
            here = self._legs[at].target
            if here in places:
                kept = places[here]
                cycles.append(way[kept:])
                for each in way[kept:]:
                    places.pop(self._legs[each].target, None)
                del way[kept:]
            places[here] = len(way)
        return way

    def _join(self, ways: list[list[int]], cycles: list[list[int]]) -> list[list[int]]:
        """Put each cycle into the way that has most room for it and comes through one of its vertices."""
        left = deque(sorted(cycles, key=self._measure, reverse=True))
        lengths = [self._measure(way) for way in ways]
        passing: dict[int, set[int]] = {}  # the numbers of the ways through each vertex
        for at, each in enumerate(ways):
            self._note(passing, at, each)
        idle = 0
        while left and idle < len(left):
            cycle = left.popleft()
            length = self._measure(cycle)
            own = {self._legs[at].source: turn for turn, at in enumerate(cycle)}
            found = set[int]().union(*(passing.get(vertex, ()) for vertex in own))
            number = min(found, key=lambda at: (lengths[at], at), default=None)
            if number is None or (self._limit is not None and lengths[number] + length > self._limit):
                left.append(cycle)
                idle += 1
                continue
            way = ways[number]
            vertices = (*(self._legs[at].source for at in way), *(self._legs[at].target for at in way[-1:]))
            place, turn = next((place, own[vertex]) for place, vertex in enumerate(vertices) if vertex in own)
            way[place:place] = cycle[turn:] + cycle[:turn]
            lengths[number] += length
            self._note(passing, number, cycle)
            idle = 0
        return ways

    def _note(self, passing: dict[int, set[int]], number: int, legs: Iterable[int]) -> None:
        for at in legs:
            for vertex in (self._legs[at].source, self._legs[at].target):
                passing.setdefault(vertex, set()).add(number)

    def _measure(self, way: Iterable[int]) -> int:
        return sum(self._legs[at].cost for at in way)


_KEPT = 8
"""Beginnings of ways that are followed from one vertex at one cost."""
_NARROW_COVER_ROUNDS = 60
"""How often paths are searched again without the number becoming smaller."""
_WORK = 100_000
"""Legs times the limit times rounds: where there is more to do, there are fewer rounds."""


@value
class _Begun:
    """An unfinished path: its position, the demanded legs that it has taken as bits, and its last leg."""

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
        """Return the cost of the cheapest path from each vertex to an end."""
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
        rounds = min(_NARROW_COVER_ROUNDS, _WORK // (1 + len(self._legs) * self._limit))
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
