"""The longest run of a plan from one node on, by any weight of its nodes; networkx has the graph.

A run that repeats nothing is the longest way through a graph without cycles. A run that may repeat is the heaviest walk
with as many executions as the limit allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

from stagec.core.components import Neighbours
from stagec.graph.expense import MOST
from stagec.graph.heaviest import HeaviestRuns, RunParts, list_run_parts
from stagec.graph.way import FAIL, SHOWN, Joint, Way, Weight
from stagec.plan.document import Plan
from stagec.plan.node import Chain, Fork, Pick, Schedule, Target, list_targets

_EFFORT = 300_000
"""Edges that are looked at for one walk; above, every execution counts as the heaviest."""
_NOWHERE = -1
Weights = Mapping[str, int]
_Place = tuple[str, bool]
"""A node, and whether a fork leads to it; then only the edges of its failure lead on."""


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
            if self._goes_back(name):
                own = (name,) if name == self._start else ()
                before = [*self._graph.predecessors(name)]
                nodes = [
                    one
                    for each in before
                    for one in (self._graph.predecessors(each) if isinstance(each, tuple) else (each,))
                ]
                ways[name] = self.nodes if self.forks else (*(nodes if before else (name,)), *own)
        return ways

    def _goes_back(self, name: str) -> bool:
        validation = self._plan.nodes[name].validation
        return validation is not None and validation.action == "retry"

    @property
    def may_go_back(self) -> bool:
        """Whether a failed validation may lead a run back."""
        return any(map(self._goes_back, self.nodes))

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

    def find_longest(self, weights: Weights) -> Weight | None:
        """Return the heaviest run, nodes that run together counted one by one; None where nothing bounds it."""
        limit = self._plan.limits.executions
        found = None if self.cycles else self._cross(weights, is_sum=True)
        if limit is None or (found is not None and not self.forks and len(self.nodes) <= limit):
            return found
        walked = self._walk(weights, limit)
        if found is None or walked.total < found.total:
            return walked if found is None or not self.forks else Weight(walked.total, self._cut(found.way, limit))
        return found

    def _cut(self, way: Way, limit: int) -> Way:
        """Return the first nodes of a way, as many as a run may execute; which run then first is left open."""
        return tuple(each for each in way if not isinstance(each, Joint))[:limit]

    @property
    def is_cut(self) -> bool:
        """Whether runs could be longer if the plan had no limit of executions."""
        limit = self._plan.limits.executions
        if limit is None or self.cycles:
            return limit is not None
        return self._cross(dict.fromkeys(self.nodes, 1), is_sum=True).total > limit

    def find_slowest(self, weights: Weights, places: int) -> Weight | None:
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
        shared = -(-(whole.total + span.total * (places - 1)) // places)
        return Weight(min(whole.total, shared), span.way)

    @cached_property
    def _order(self) -> tuple[Any, ...]:
        """Every node after all it leads to."""
        import networkx as nx

        return tuple(nx.topological_sort(self._graph.reverse(copy=False)))

    def _targets(self, name: Any) -> Iterator[Target]:
        node = self._plan.nodes.get(name) if isinstance(name, str) else None
        yield from (edge.target for edge in node.edges) if node is not None else ()

    @cached_property
    def _parts(self) -> RunParts:
        """What runs consist of, without cycles only."""
        return list_run_parts(self._plan, [name for name in self._order if isinstance(name, str)], self._start)

    def _cross(self, weights: Weights, *, is_sum: bool) -> Weight:
        """Find the heaviest way through a graph without cycles."""
        return HeaviestRuns(self._plan, self._parts, weights, is_sum=is_sum).find()

    def _walk(self, weights: Weights, limit: int) -> Weight:
        """Find the heaviest walk of at most so many executions: of one, of two, and so on, each by the one before."""
        if self._sequence is None:
            return Weight(min(MOST, limit * max(weights[name] for name in self.nodes)))
        parts, leads = self._sequence
        if limit * (sum(map(len, leads)) + len(leads)) > _EFFORT:
            return Weight(min(MOST, limit * max(weights[name] for name in self.nodes)))
        costs, best = [weights[name] for name, _ in parts], [0] * len(leads)
        steps: list[list[int]] = []
        for _ in range(limit):
            steps.append([max(ahead, key=best.__getitem__, default=_NOWHERE) for ahead in leads])
            best = [min(MOST, own + (best[to] if to >= 0 else 0)) for own, to in zip(costs, steps[-1], strict=True)]
        way: list[str] = []
        at = 0
        while at >= 0 and steps:
            way.append(parts[at][0])
            at = steps.pop()[at]
        return Weight(best[0], tuple(way[:SHOWN]))

    @cached_property
    def _sequence(self) -> tuple[tuple[_Place, ...], Neighbours] | None:
        """What may follow each node if the branches of a scope ran one after the other, which changes no sum.

        The limit may end a branch anywhere: each of its nodes may be the last before the next branch or the join.
        None where that is too much. The first of the nodes is the one with which runs begin.
        """
        import networkx as nx

        if any(isinstance(target, Schedule) for name in self.nodes for target in self._targets(name)):
            return None
        reached, pairs = nx.DiGraph(), list[tuple[_Place, _Place]]()
        todo: list[_Place] = [(self._start, False)]
        ways: list[list[_Place]] = []
        for part in todo:  # grows while it is read
            known = len(pairs)
            ways.append([*self._list_next(part, pairs)])
            within = dict.fromkeys((*ways[-1], *(each for pair in pairs[known:] for each in pair)))
            todo.extend(each for each in within if each not in reached and each != todo[0])
            reached.add_edges_from((part, each) for each in within)
        index = {part: at for at, part in enumerate(todo)}
        leads: list[dict[int, None]] = [dict.fromkeys(map(index.__getitem__, each)) for each in ways]
        room = _EFFORT
        for before, after in dict.fromkeys(pairs):
            inside = [before, *(nx.descendants(reached, before) if before in reached else ())]
            room -= len(inside)
            if room < 0:
                return None
            for part in inside:
                leads[index[part]][index[after]] = None
        return tuple(todo), [[*each] for each in leads]

    def _list_next(self, part: _Place, pairs: list[tuple[_Place, _Place]]) -> Iterator[_Place]:
        """Yield what may come after a node: of a scope the first branch, of a failed validation the node before.

        What comes after a branch of a scope is kept in `pairs`.
        """
        name, is_head = part
        yield from ((each, False) for each in self._back.get(name, ()))
        for edge in self._plan.nodes[name].edges:
            target = edge.target
            if is_head and edge.on != FAIL:
                continue
            if isinstance(target, Fork | Chain):
                branches = [(each, isinstance(target, Fork)) for each in target.nodes]
                join = target.join if isinstance(target, Fork) else None
                pairs.extend(pairwise((*branches, *(() if join is None else ((join, False),)))))
                yield from branches[:1]
            else:
                yield from ((each, False) for each in self._resolve(target))

    def _resolve(self, target: Target) -> Iterable[str]:
        """Return the nodes of which one follows."""
        return self._graph.successors(_ahead(target)[0]) if isinstance(target, Pick) else list_targets(target)


def _ahead(target: Target) -> tuple[Any, ...]:
    return (("choices", target.choices),) if isinstance(target, Pick) else list_targets(target)


def _count_together(target: Target, best: Mapping[Any, int]) -> int:
    if isinstance(target, Fork):
        return max(sum(best[each] for each in target.nodes), 1 if target.join is None else best[target.join])
    known = [best[each] for each in _ahead(target)]
    return sum(known) if isinstance(target, Schedule) else max(known, default=1)
