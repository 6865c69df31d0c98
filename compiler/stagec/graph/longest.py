"""The longest run of a plan from one node on, by any weight of its nodes; networkx has the graph.

A run that repeats nothing is the longest way through a graph without cycles. A run that may repeat is the heaviest walk
with as many executions as the limit allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any

from stagec.core.components import Neighbours
from stagec.core.precedence import order_names
from stagec.core.value import value
from stagec.graph.expense import MOST
from stagec.plan.document import Plan
from stagec.plan.node import Chain, Fork, Pick, Schedule, Target, list_targets

_EFFORT = 300_000
"""Edges that are looked at for one walk; above, every execution counts as the heaviest."""
_SHOWN = 1_000
"""Parts of a way that are kept; forks inside forks double them."""


_NOWHERE = -1


class Joint(StrEnum):
    """What stands between the nodes of a way where several run together."""

    OPEN = "("
    NEXT = "|"
    CLOSE = ")"


Way = tuple[str | Joint, ...]
Weights = Mapping[str, int]


@value
class Longest:
    """The most that a run takes, and one way that takes it: without any where it is the limit alone that counts."""

    most: int
    way: Way = ()


class PlanWalks:
    """The runs of a plan from one node on; with `back`, also where validations that have failed lead back to."""

    def __init__(self, plan: Plan, start: str, *, back: bool) -> None:
        self._plan, self._start = plan, start
        # the graph of what a run may come to; a point stands for the choices that targets have in common
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_node(start)
        todo: list[Any] = [start]
        for name in todo:  # grows while it is read
            if isinstance(name, tuple):
                ahead = [*plan.choices[name[1]].values()]
            else:
                ahead = [each for edge in plan.nodes[name].edges for each in _ahead(edge.target)]
            todo.extend(each for each in dict.fromkeys(ahead) if each not in graph)
            graph.add_edges_from((name, each) for each in ahead)
        self._graph = graph
        self.nodes = tuple(name for name in plan.nodes if name in self._graph)
        self._back = self._find_ways_back() if back else {}
        self._graph.add_edges_from((name, each) for name, before in self._back.items() for each in before)

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """The largest sets of nodes that a run may come to and that lead back into themselves, sorted."""
        import networkx as nx

        found = (each for each in nx.strongly_connected_components(self._graph) if self._repeats(each))
        return tuple(sorted(tuple(sorted(name for name in each if name in self._plan.nodes)) for each in found))

    def _find_ways_back(self) -> dict[str, tuple[str, ...]]:
        """Return where a failed validation leads: to a node that may have led there; with scopes that may be any."""
        ways = {}
        for name in self.nodes:
            validation = self._plan.nodes[name].validation
            if validation is not None and validation.action == "retry":
                own = (name,) if name == self._start else ()
                before = [*self._graph.predecessors(name)]
                nodes = [
                    one
                    for each in before
                    for one in (self._graph.predecessors(each) if isinstance(each, tuple) else (each,))
                ]
                ways[name] = self.nodes if self.forks else (*(nodes if before else (name,)), *own)
        return ways

    def _repeats(self, component: set[Any]) -> bool:
        return len(component) > 1 or any(self._graph.has_edge(each, each) for each in component)

    @cached_property
    def forks(self) -> bool:
        """Whether a run may open a scope."""
        return any(
            isinstance(edge.target, Fork | Chain | Schedule)
            for name in self.nodes
            for edge in self._plan.nodes[name].edges
        )

    @cached_property
    def together(self) -> int:
        """How many executions can be under way at the same time if nothing limits them; without cycles only."""
        best: dict[Any, int] = {}
        for name in self._order:
            ways = (_count_together(target, best) for target in self._targets(name))
            best[name] = min(MOST, max(ways, default=1))
        return best[self._start]

    def find_longest(self, weights: Weights) -> Longest | None:
        """Return the heaviest run, nodes that run together counted one by one; None where nothing bounds it."""
        limit = self._plan.limits.executions
        found = None if self.cycles else self._cross(weights, is_sum=True)
        if limit is None or (found is not None and not self.forks and len(self.nodes) <= limit):
            return found
        walked = self._walk(weights, limit)
        return walked if found is None or walked.most < found.most else found

    @property
    def is_cut(self) -> bool:
        """Whether runs could be longer if the plan had no limit of executions."""
        limit = self._plan.limits.executions
        if limit is None or self.cycles:
            return limit is not None
        return self._cross(dict.fromkeys(self.nodes, 1), is_sum=True).most > limit

    def find_slowest(self, weights: Weights, places: int) -> Longest | None:
        """Return the run that takes longest if at most so many nodes run at the same time.

        Where there is no room for all that may run together, it is Graham's bound: a free place never stays empty
        while something waits for one.
        """
        whole = self.find_longest(weights)
        if self.cycles or not self.forks or whole is None:
            return whole
        span = self._cross(weights, is_sum=False)
        if self.together <= places:
            return span
        shared = -(-(whole.most + span.most * (places - 1)) // places)
        return Longest(min(whole.most, shared), span.way)

    @cached_property
    def _order(self) -> tuple[Any, ...]:
        """Every node after all it leads to."""
        import networkx as nx

        return tuple(nx.topological_sort(self._graph.reverse(copy=False)))

    def _targets(self, name: Any) -> Iterator[Target]:
        node = self._plan.nodes.get(name) if isinstance(name, str) else None
        yield from (edge.target for edge in node.edges) if node is not None else ()

    def _cross(self, weights: Weights, *, is_sum: bool) -> Longest:
        """Find the longest way through a graph without cycles."""
        best: dict[Any, int] = {}
        taken: dict[Any, Target | None] = {}
        for name in self._order:
            if isinstance(name, tuple):
                best[name] = max((best[each] for each in self._graph.successors(name)), default=0)
                continue
            ways = [(_weigh(target, best, is_sum=is_sum), target) for target in self._targets(name)]
            most, taken[name] = max(ways, key=lambda way: way[0], default=(0, None))
            best[name] = min(MOST, most + weights[name])
        return Longest(best[self._start], tuple(self._follow(best, taken)))

    def _follow(self, best: Mapping[Any, int], taken: Mapping[Any, Target | None]) -> Iterator[str | Joint]:
        """Yield the nodes of the longest way in order, as far as they are kept."""
        todo: list[str | Joint] = [self._start]
        shown = 0
        while todo and shown < _SHOWN:
            part = todo.pop()
            shown += 1
            yield part
            if not isinstance(part, Joint):
                todo.extend(reversed([*self._unfold(taken[part], best)]))

    def _unfold(self, target: Target | None, best: Mapping[Any, int]) -> Iterator[str | Joint]:
        """Yield what follows when a target is taken; of nodes that can be chosen, the one with the longest way."""
        if isinstance(target, Fork | Schedule):
            yield Joint.OPEN
            for index, each in enumerate(target.nodes if isinstance(target, Fork) else target.needs):
                yield from (Joint.NEXT, each) if index else (each,)
            yield Joint.CLOSE
            yield from () if isinstance(target, Schedule) or target.join is None else (target.join,)
        elif isinstance(target, Chain):
            yield from target.nodes
        elif target is not None:
            known = [*self._resolve(target)]
            yield from [max(known, key=lambda each: best[each])] if known else ()

    def _walk(self, weights: Weights, limit: int) -> Longest:
        """Find the heaviest walk of at most so many executions: of one, of two, and so on, each by the one before."""
        leads = self._sequence
        if leads is None or limit * (sum(map(len, leads)) + len(leads)) > _EFFORT:
            return Longest(min(MOST, limit * max(weights[name] for name in self.nodes)))
        costs, best = [weights[name] for name in self.nodes], [0] * len(leads)
        steps: list[list[int]] = []
        for _ in range(limit):
            steps.append([max(ahead, key=best.__getitem__, default=_NOWHERE) for ahead in leads])
            best = [min(MOST, own + (best[to] if to >= 0 else 0)) for own, to in zip(costs, steps[-1], strict=True)]
        way: list[str] = []
        at = start = self.nodes.index(self._start)
        while at >= 0 and steps:
            way.append(self.nodes[at])
            at = steps.pop()[at]
        return Longest(best[start], tuple(way[:_SHOWN]))

    @cached_property
    def _sequence(self) -> Neighbours | None:
        """What may follow each node if the branches of a scope ran one after the other, which changes no sum.

        The limit may end a branch anywhere: each of its nodes may be the last before the next branch or the join.
        None where that is too much.
        """
        import networkx as nx

        if any(isinstance(target, Schedule) for name in self.nodes for target in self._targets(name)):
            return None
        index = {name: at for at, name in enumerate(self.nodes)}
        leads: list[dict[int, None]] = [{index[each]: None for each in self._list_next(name)} for name in self.nodes]
        room = _EFFORT
        for before, after in self._list_pairs():
            inside = [before, *(each for each in nx.descendants(self._graph, before) if isinstance(each, str))]
            room -= len(inside)
            if room < 0:
                return None
            for name in inside:
                leads[index[name]][index[after]] = None
        return [[*each] for each in leads]

    def _list_pairs(self) -> Iterator[tuple[str, str]]:
        """Yield the beginning of each branch with what comes next in its scope."""
        for name in self.nodes:
            for target in self._targets(name):
                if isinstance(target, Fork | Chain):
                    join = target.join if isinstance(target, Fork) else None
                    yield from pairwise((*target.nodes, *(() if join is None else (join,))))

    def _list_next(self, name: str) -> Iterator[str]:
        """Yield what may come after a node: of a scope the first branch, of a failed validation the node before."""
        yield from self._back.get(name, ())
        for target in self._targets(name):
            if isinstance(target, Fork | Chain):
                yield target.nodes[0]
            else:
                yield from self._resolve(target)

    def _resolve(self, target: Target) -> Iterable[str]:
        """Return the nodes of which one follows."""
        return self._graph.successors(_ahead(target)[0]) if isinstance(target, Pick) else list_targets(target)


def _ahead(target: Target) -> tuple[Any, ...]:
    return (("choices", target.choices),) if isinstance(target, Pick) else list_targets(target)


def _weigh(target: Target, best: Mapping[Any, int], *, is_sum: bool) -> int:
    """Return the most that follows when a target is taken."""
    if isinstance(target, Fork):
        branches = [best[each] for each in target.nodes]
        return (sum(branches) if is_sum else max(branches)) + (0 if target.join is None else best[target.join])
    known = [best[each] for each in _ahead(target)]
    if isinstance(target, Schedule) and not is_sum:
        return order_names(target.needs).find_longest(known).length
    return sum(known) if isinstance(target, Chain | Schedule) else max(known, default=0)


def _count_together(target: Target, best: Mapping[Any, int]) -> int:
    if isinstance(target, Fork):
        return max(sum(best[each] for each in target.nodes), 1 if target.join is None else best[target.join])
    known = [best[each] for each in _ahead(target)]
    return sum(known) if isinstance(target, Schedule) else max(known, default=1)
