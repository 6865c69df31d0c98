"""How many node executions a run takes, at least and at most."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from stagec.core.components import Neighbours, repeats
from stagec.graph.adjacency import Adjacency, Scope
from stagec.graph.clauses import Clauses

MOST = 10**18
"""Larger numbers are not told apart: forks inside forks double them."""


def shortest(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Return for each node the least executions from it to a completing end.

    Knuth's generalisation of Dijkstra's algorithm where scopes are opened, a breadth-first search elsewhere.
    """
    costs = _summed(net, completion) if net.scopes else _level(completion)
    return costs[: len(net.ids)]


def longest(net: Adjacency, leads: Neighbours, components: Iterable[list[int]]) -> list[int | None]:
    """Return for each node the most executions of any run from it, None where there is no limit."""
    found: list[int | None] = [None] * len(net.ids)
    opened: dict[int, list[tuple[int, ...]]] = {}
    for scope in net.scopes:
        opened.setdefault(scope.source, []).append(scope.leads)
    for component in components:
        node = component[0]
        if not repeats(leads, component):
            ways = (*((each,) for each in net.steps[node]), *opened.get(node, ()))
            found[node] = _largest(ways, found)
    return found


def _largest(ways: Iterable[tuple[int, ...]], found: Sequence[int | None]) -> int | None:
    most = 0
    for way in ways:
        known = [each for node in way if (each := found[node]) is not None]
        if len(known) < len(way):
            return None
        most = max(most, sum(known))
    return min(1 + most, MOST)


def _level(completion: Clauses) -> list[int | None]:
    costs: list[int | None] = [None] * len(completion.need)
    level, cost = list(completion.given), 1
    while level:
        for node in level:
            costs[node] = cost
        above = dict.fromkeys(user for node in level for user in completion.users[node])
        level, cost = [node for node in above if costs[node] is None], cost + 1
    return costs


def _summed(net: Adjacency, completion: Clauses) -> list[int | None]:
    """Settle what is cheapest first: a node costs one more than its best way, a scope all that runs in it."""
    nodes, left = len(net.ids), list(completion.need)
    costs: list[int | None] = [None] * len(left)
    meeting = _meeting(net)
    todo = sorted((int(point < nodes), point) for point in completion.given)
    while todo:
        cost, point = heappop(todo)
        if costs[point] is not None:
            continue
        costs[point] = cost
        for user in completion.users[point]:
            left[user] -= 1
            if user < nodes:
                heappush(todo, (min(cost + 1, MOST), user))
            elif not left[user]:
                heappush(todo, (_scope(net.scopes[user - nodes], costs, meeting=meeting), user))
    return costs


def _scope(scope: Scope, costs: Sequence[int | None], *, meeting: bool) -> int:
    own = [costs[each] or 0 for each in scope.branches]
    after = 0 if scope.join is None else costs[scope.join] or 0
    return min(after + (max(own, default=0) if meeting and not scope.chain else sum(own)), MOST)


def _meeting(net: Adjacency) -> bool:
    """Tell whether a node waits for edges of several others, so that branches may share what follows them."""
    together, met = set(net.together), dict[int, int]()
    pairs = [(node, source) for source, targets in enumerate(net.steps if together else ()) for node in targets]
    pairs += [(node, scope.source) for scope in net.scopes for node in scope.leads]
    return any(node in together and met.setdefault(node, source) != source for node, source in pairs)
