"""Walk through what was found: runs that come to things in an order, within the limits of the flow, to an end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from heapq import heappop, heappush
from itertools import count

from stagec.core.value import replace, value
from stagec.flow_tests.paths.search import END, Arc, Item, Played, Player, SearchGraph
from stagec.plan import Plan
from stagec.runtime import Program

_LONGEST = 20_000
"""Choices of one run."""
_FAR = 10**9
_KEPT = 400_000
"""Items of all runs on their way that are kept, because others begin with the same choices."""


@value
class WalkedRun:
    """A run on its way: what has happened, the number of its position (None where it is unknown), and its room."""

    played: Played
    number: int | None = None
    room: int = _FAR


class Walker:
    """Makes runs of a program by what a search has found."""

    def __init__(self, program: Program, graph: SearchGraph, player: Player) -> None:
        self._graph, self._player = graph, player
        self._room = limit_of(program.plan) or _FAR
        self._left = self._measure_left()
        self._least = min((arc.cost for arcs in graph.arcs for arc in arcs), default=0)
        self._begun: dict[int, WalkedRun] = {}
        self._taken: dict[tuple[int, str], tuple[WalkedRun, WalkedRun]] = {}
        self._kept = 0

    def walk(self, order: Iterable[Item], others: Collection[Item] = ()) -> Played | None:
        """Return a run that comes to some items in their order, then to the nearest of others, and to an end.

        Items that it cannot come to are left out. None where no run comes to any.
        """
        standing: WalkedRun | None = None
        for item in order:
            if standing is None or item not in standing.played.items:
                standing = self._go_to_nearest(standing, frozenset((item,))) or standing
        missing = frozenset(others)
        while (further := self._go_to_nearest(standing, missing)) is not None:
            standing = further
        return None if standing is None else self._end(standing)

    def _go_to_nearest(self, standing: WalkedRun | None, missing: frozenset[Item]) -> WalkedRun | None:
        left = missing if standing is None else missing - standing.played.items
        if not left:
            return None
        found = self._go(standing, lambda arc: arc.target != END and not left.isdisjoint(arc.items))
        return found or self._go(standing, lambda arc: not left.isdisjoint(arc.items))

    def find(self, wanted: Callable[[Arc], bool]) -> Played | None:
        """Return the shortest run with an arc that is wanted, to an end."""
        standing = self._go(None, wanted)
        return None if standing is None else self._end(standing)

    def _go(self, standing: WalkedRun | None, wanted: Callable[[Arc], bool]) -> WalkedRun | None:
        """Return a run that has gone on to the nearest arc that is wanted; None where none can be come to."""
        if standing is not None and (standing.played.state.ended is not None or standing.number is None):
            return None
        route = self._find_route(standing, wanted)
        if route is None:
            return None
        if standing is None:
            at = next(at for at, each in enumerate(self._graph.first) if each is route[0])
            standing = self._begin(at, route[0])
            route = route[1:]
        for arc in route:
            following = self._take(standing, arc)
            if following is None:
                break  # what was counted on the way leads elsewhere
            standing = following
        return standing

    def _begin(self, at: int, arc: Arc) -> WalkedRun:
        if at not in self._begun:
            begun = replace(self._player.start(self._graph.starts[at]), start=at)
            self._begun[at] = WalkedRun(begun, self._locate(begun), self._room - arc.executions)
        return self._begun[at]

    def _take(self, standing: WalkedRun, arc: Arc) -> WalkedRun | None:
        """Return a run after a choice; None where there is no such choice now."""
        if standing.number != arc.source or standing.played.state.ended is not None:
            return None
        key = (id(standing), arc.choice)
        if key in self._taken:
            return self._taken[key][1]
        choices = self._player.find_choices(standing.played)
        choice = next((each for each in choices if each.name == arc.choice), None)
        played = None if choice is None else self._player.play(standing.played, choice)
        after = (
            None if played is None else WalkedRun(played, self._locate(played), self._room - played.state.executions)
        )
        if after is not None and self._kept < _KEPT:
            self._kept += len(after.played.items)
            self._taken[key] = standing, after  # which keeps the first one, so that no other has its id
        return after

    def _locate(self, played: Played) -> int | None:
        if played.state.ended is not None:
            return END
        return self._graph.number(played.start, self._player.find_position(played))

    def _end(self, standing: WalkedRun) -> Played:
        """Return a run that has come to an end: the nearest, or the one to which limits lead."""
        ended = self._go(standing, lambda arc: arc.target == END)
        played = standing.played if ended is None else ended.played
        for _ in range(_LONGEST):
            if played.state.ended is not None:
                break
            choices = self._player.find_choices(played)
            played = next(after for each in choices if (after := self._player.play(played, each)) is not None)
        return played

    def _find_route(self, standing: WalkedRun | None, wanted: Callable[[Arc], bool]) -> tuple[Arc, ...] | None:
        """Return the cheapest arcs to one that is wanted, with room for the way from there to an end."""
        begin = self._graph.first if standing is None else self._graph.arcs[standing.number or 0]
        room = self._room if standing is None else standing.room
        order, bound = count(), _FAR  # what is found later and costs as much as what is wanted comes too late
        queue: list[tuple[int, int, int, Arc, int | None]] = []
        came: list[tuple[Arc, int | None]] = []
        done: set[int] = set()
        for arc in begin:
            if arc.executions + self._left.get(arc.target, 0) <= room and arc.cost < bound:
                heappush(queue, (arc.cost, next(order), arc.executions, arc, None))
                bound = arc.cost if wanted(arc) else bound
        while queue:
            cost, _, executions, arc, before = heappop(queue)
            if cost == bound and wanted(arc):
                return self._trace(came, arc, before)
            if arc.target == END or arc.target in done or cost + self._least >= bound:
                continue
            done.add(arc.target)
            came.append((arc, before))
            for each in self._graph.arcs[arc.target]:
                costs, many = cost + each.cost, executions + each.executions
                if costs < bound and many + self._left.get(each.target, 0) <= room:
                    heappush(queue, (costs, next(order), many, each, len(came) - 1))
                    bound = costs if wanted(each) else bound
        return None

    def _trace(self, came: list[tuple[Arc, int | None]], last: Arc, before: int | None) -> tuple[Arc, ...]:
        route = [last]
        while before is not None:
            arc, before = came[before]
            route.append(arc)
        return tuple(reversed(route))

    def _measure_left(self) -> dict[int, int]:
        """Return how many executions a run needs at least to come to an end; nothing where only a limit ends it."""
        coming: dict[int, list[Arc]] = {}
        for arcs in self._graph.arcs:
            for arc in arcs:
                coming.setdefault(arc.target, []).append(arc)
        found: dict[int, int] = {}
        queue = [(0, END)]
        while queue:
            left, number = heappop(queue)
            if number in found:
                continue
            found[number] = left
            for arc in coming.get(number, ()):
                heappush(queue, (left + arc.executions, arc.source))
        return found

    def is_endless(self, number: int) -> bool:
        """Tell whether only a limit ends runs that have come to a position."""
        return number not in self._left


def limit_of(plan: Plan) -> int | None:
    """Return how many executions a run has at most, nothing where nothing limits them."""
    limits = [plan.limits.executions, None if plan.phases is None else plan.phases.most + 1]
    return min((each for each in limits if each is not None), default=None)
