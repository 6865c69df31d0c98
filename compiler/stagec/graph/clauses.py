"""What follows from what: points that hold as soon as enough of those before them hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def completion_clauses(net: Adjacency) -> Clauses:
    """Return what completes because something else does."""
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
    return Clauses(users, made.need, (*net.ends, *empty))


def starting_clauses(net: Adjacency, completes: Sequence[bool]) -> Clauses:
    """Return what starts because something else does."""
    users = [list(each) for each in net.steps] if net.scopes else net.steps
    made = Clauses(users, [1] * len(users))
    for scope in net.scopes:
        (_add_chain if scope.chain else _add_fork)(made, scope, completes)
    return made


def _add_fork(made: Clauses, scope: Scope, completes: Sequence[bool]) -> None:
    own = made.users[scope.source]
    own.extend(scope.branches)
    if scope.join is not None:
        endless = not all(completes[each] for each in scope.branches)
        point = made.add_point(1 + len(scope.branches) + endless, scope.join)
        own.append(point)
        for each in scope.branches:
            made.users[each].append(point)


def _add_chain(made: Clauses, scope: Scope, completes: Sequence[bool]) -> None:
    before = scope.source
    for each in scope.branches:
        made.users[before].append(each)
        point = made.add_point(2 + (not completes[each]))
        made.users[before].append(point)
        made.users[each].append(point)
        before = point
    if scope.join is not None:
        made.users[before].append(scope.join)
