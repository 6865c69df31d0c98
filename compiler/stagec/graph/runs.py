"""How many node executions a run takes at least."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from stagec.graph.adjacency import Adjacency, Scope
from stagec.graph.clauses import Clauses

MOST = 10**18
"""Larger numbers count as this one: forks inside forks double them."""


def find_shortest(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Return for each node the least executions from it to a completing end.

    Knuth's generalisation of Dijkstra's algorithm where scopes are opened, a breadth-first search elsewhere.
    """
    costs = _cost_of_scopes(net, completion) if net.scopes or net.hubs else _count_levels(completion)
    return costs[: len(net.ids)]


def _count_levels(completion: Clauses) -> list[int | None]:
    costs: list[int | None] = [None] * len(completion.need)
    level, cost = list(completion.given), 1
    while level:
        for node in level:
            costs[node] = cost
        above = dict.fromkeys(user for node in level for user in completion.users[node])
        level, cost = [node for node in above if costs[node] is None], cost + 1
    return costs


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
                heappush(todo, (_add_up(net.scopes[user - points], costs), user))
    return costs


def _add_up(scope: Scope, costs: Sequence[int | None]) -> int:
    return min(sum(costs[each] or 0 for each in scope.leads), MOST)
