"""What follows from what: points that hold as soon as enough of those before them hold, and at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from stagec.core.components import Neighbours
from stagec.core.value import value
from stagec.graph.adjacency import Adjacency, Scope


@value
class Clauses:
    """Horn clauses: for each point those it helps to hold, and how many it needs; the first are nodes and hubs."""

    users: Neighbours
    need: list[int]
    given: tuple[int, ...] = ()

    def solve(self, seeds: Iterable[int] = ()) -> list[bool]:
        """Return for each point whether it follows from the seeds and what is given, in linear time."""
        left, users = list(self.need), self.users
        todo = list(dict.fromkeys((*self.given, *seeds)))
        for point in todo:
            left[point] = 0
        for point in todo:  # grows while it is read
            for user in users[point]:
                left[user] -= 1
                if left[user] == 0:
                    todo.append(user)
        return [each <= 0 for each in left]

    def add_point(self, need: int, *users: int) -> int:
        """Add a point that is no node and return it."""
        self.users.append(list(users))
        self.need.append(need)
        return len(self.need) - 1

    def count_levels(self) -> list[int | None]:
        """Return what the cheapest way to each node costs, None where there is none."""
        costs: list[int | None] = [None] * len(self.need)
        level, cost = list(self.given), 1
        while level:
            for node in level:
                costs[node] = cost
            above = dict.fromkeys(user for node in level for user in self.users[node])
            level, cost = [node for node in above if costs[node] is None], cost + 1
        return costs

    def need_directly(self, node: int, needs: Sequence[int], completes: Sequence[bool]) -> None:
        """Let a node start as `add_needs` does, where nothing else leads to it: no point is needed then."""
        if needs:
            self.need[node] = len(needs) + (not all(map(completes.__getitem__, needs)))
            for each in needs:
                self.users[each].append(node)

    def add_needs(self, node: int, needs: Sequence[int], completes: Sequence[bool]) -> None:
        """Let a node of a schedule start when all that it needs have started, if all of these can complete."""
        if needs and all(completes[each] for each in needs):
            point = self.add_point(len(needs), node)
            for each in needs:
                self.users[each].append(point)

    def add_fork(self, scope: Scope, completes: Sequence[bool]) -> None:
        """Let the branches of a fork start with its source, and its join when all of them can complete."""
        own = self.users[scope.source]
        own.extend(scope.branches)
        if scope.join is not None:
            endless = not all(completes[each] for each in scope.branches)
            point = self.add_point(1 + len(scope.branches) + endless, scope.join)
            own.append(point)
            for each in scope.branches:
                self.users[each].append(point)

    def add_chain(self, scope: Scope, completes: Sequence[bool]) -> None:
        """Let each branch of a chain start when the one before it has completed."""
        before = scope.source
        for each in scope.branches:
            self.users[before].append(each)
            point = self.add_point(2 + (not completes[each]))
            self.users[before].append(point)
            self.users[each].append(point)
            before = point
        if scope.join is not None:
            self.users[before].append(scope.join)


def completion_clauses(net: Adjacency, ends: Iterable[int]) -> Clauses:
    """Return what comes to an end because something else does, where these nodes are those that end runs."""
    users: Neighbours = [[] for _ in net.steps]
    for source, targets in enumerate(net.steps):
        for target in targets:
            users[target].append(source)
    made = Clauses(users, [1] * len(users))
    empty: list[int] = []
    for scope in net.scopes:
        point = made.add_point(len(scope.leads), scope.source)
        for each in scope.leads:
            users[each].append(point)
        empty.extend(() if scope.leads else (point,))
    return Clauses(users, made.need, (*ends, *empty))


def starting_clauses(net: Adjacency, completes: Sequence[bool]) -> Clauses:
    """Return what starts because something else does."""
    users = [list(each) for each in net.steps] if net.scopes or net.schedules else net.steps
    made = Clauses(users, [1] * len(users))
    for scope in net.scopes:
        if scope.chain:
            made.add_chain(scope, completes)
        else:
            made.add_fork(scope, completes)
    is_alone = len(net.schedules) == 1 and not net.scopes and not any(net.steps)
    for schedule in net.schedules.values():
        for node, needs in schedule.items():
            if is_alone:
                made.need_directly(node, needs, completes)
            else:
                made.add_needs(node, needs, completes)
    return made


MOST = 10**18
"""Larger numbers count as this one: forks inside forks double them."""


def find_shortest(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Return for each node the least executions from it to a completing end.

    Knuth's generalisation of Dijkstra's algorithm where scopes are opened, a breadth-first search elsewhere.
    """
    costs = _cost_of_scopes(net, completion) if net.scopes or net.hubs else completion.count_levels()
    return costs[: len(net.ids)]


def _cost_of_scopes(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Settle what is cheapest first: a node costs one more than its best way, a scope all that runs in it.

    A hub costs no more than its best way.
    """
    nodes, points, left = len(net.ids), len(net.steps), list(completion.need)
    costs: list[int | None] = [None] * len(left)
    todo = sorted((int(point < nodes), point) for point in completion.given)
    while todo:
        cost, point = heappop(todo)
        if costs[point] is not None:
            continue
        costs[point] = cost
        for user in completion.users[point]:
            left[user] -= 1
            if user < points:
                heappush(todo, (min(cost + (user < nodes), MOST), user))
            elif not left[user]:
                scope = net.scopes[user - points]
                heappush(todo, (min(sum(costs[each] or 0 for each in scope.leads), MOST), user))
    return costs
