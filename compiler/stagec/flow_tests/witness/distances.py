"""How many executions a run needs at least from where it stands: a bound that no run of the machine falls below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush

from stagec.plan.document import Plan
from stagec.plan.node import Chain, Edge, Fork, Go, Named, Outcome, Pick, Schedule, Stop, Target
from stagec.runtime.state import Scope, State

FAR = 10**6
"""The distance of a node from which nothing leads to completion."""
_Name = str | tuple[str]
"""A node, or what an answer chooses from by the name that the plan gives it."""
_Needs = tuple[_Name, ...]


class Distances:
    """The least number of executions from each node of a plan to the end of its branch."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._least = _measure(plan)

    def of_entry(self, entry: str) -> int:
        """Return the least number of executions of a completed run from an entry."""
        begun = self._plan.entries[entry]
        return self._of(begun) if isinstance(begun, str) else sum(map(self._of, begun.needs))

    def of_edge(self, edge: Edge) -> int:
        """Return the least number of executions after an edge until its branch ends."""
        ways = ([self._of_hub(each) for each in needs] for needs in _list_needs(edge.target))
        return min(map(sum, ways), default=FAR)

    def of_state(self, state: State) -> int:
        """Return how many executions have yet to begin at least until a run is completed."""
        left = sum(self._of(each.node) - 1 for each in state.active.values())
        left += sum(self._of(each.node) for each in state.waiting)
        return left + sum(self._of_scope(each) for each in state.scopes.values())

    def _of(self, node: str) -> int:
        return self._least.get(node, FAR)

    def _of_hub(self, name: _Name) -> int:
        nodes = [name] if isinstance(name, str) else self._plan.choices[name[0]].values()
        return min(map(self._of, nodes), default=FAR)

    def _of_scope(self, scope: Scope) -> int:
        if scope.agenda is not None:
            return 0  # its nodes are counted when they begin
        after = 0 if scope.join is None else self._of(scope.join)
        left = scope.nodes[len(scope.results) + 1 :] if scope.is_chain else ()
        return after + sum(map(self._of, left))


def _measure(plan: Plan) -> Mapping[str, int]:
    """Settle the nodes from the nearest to the farthest; a way counts when all that it needs is settled."""
    ways: list[tuple[_Name, _Needs]] = [
        ((name,), (node,)) for name, nodes in plan.choices.items() for node in dict.fromkeys(nodes.values())
    ]
    ways += (
        (name, needs) for name, node in plan.nodes.items() for edge in node.edges for needs in _list_needs(edge.target)
    )
    missing = [len(needs) for _, needs in ways]
    weights = [int(isinstance(name, str)) for name, _ in ways]
    waiting: dict[_Name, list[int]] = {}
    queue: list[tuple[int, int]] = []
    for at, (_, needs) in enumerate(ways):
        for each in needs:
            waiting.setdefault(each, []).append(at)
        if not needs:
            queue.append((weights[at], at))
    heapify(queue)
    found: dict[_Name, int] = {}
    while queue:
        distance, way = heappop(queue)
        name = ways[way][0]
        if name in found:
            continue
        found[name] = distance
        for at in waiting.get(name, ()):
            missing[at] -= 1
            weights[at] += distance
            if not missing[at] and ways[at][0] not in found:
                heappush(queue, (weights[at], at))
    return {name: each for name, each in found.items() if isinstance(name, str)}


def _list_needs(target: Target) -> Iterator[_Needs]:
    """Yield what a target needs to be completed, once for each alternative."""
    match target:
        case Go():
            yield (target.node,)
            if target.otherwise is not None:
                yield (target.otherwise,)
        case Fork():
            yield target.nodes if target.join is None else (*target.nodes, target.join)
        case Chain():
            yield target.nodes
        case Named():
            yield from ((node,) for node in dict.fromkeys(target.nodes.values()))
        case Pick():
            yield ((target.choices,),)
        case Schedule():
            yield tuple(target.needs)
        case Stop(outcome=Outcome.DONE):
            yield ()
        case Stop():
            pass
