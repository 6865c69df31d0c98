"""The longest run of a plan from one node on, by any weight of its nodes; networkx has the graph.

A run that repeats nothing is the longest way through a graph without cycles. A run that may repeat is the heaviest walk
with as many executions as the limit allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from stagec.core.precedence import Neighbours, order_names
from stagec.core.value import replace, value
from stagec.ir.graph.figures import FAIL, SHOWN, Ending, Joint, Part, Way, Weight
from stagec.ir.graph.usage import MOST
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import (
    Chain,
    Edge,
    ForEach,
    Fork,
    Go,
    Node,
    Outcome,
    Pick,
    Schedule,
    Stop,
    Target,
    list_targets,
)

_MOST = 2_000
"""Nodes that are added; of plans that would need more, nothing is unrolled."""
_REPEAT = "repeat"


@value
class UnrolledPlan:
    """A plan for counting, and the nodes that its added nodes stand for."""

    plan: Plan
    names: Mapping[str, str]

    def name(self, part: str) -> str:
        """Return the name of a part of a path in the plan itself."""
        return self.names.get(part, part)

    def list_names(self, parts: Iterable[str]) -> tuple[str, ...]:
        """Return the names of some parts, each once."""
        return tuple(dict.fromkeys(map(self.name, parts)))


def unroll(plan: Plan) -> UnrolledPlan:
    """Return a plan whose bounded repeats lead to further nodes instead of back; the last of them cannot repeat."""
    chains = {name: _count_repeats(name, node) for name, node in plan.nodes.items()}
    total = sum(each for each in chains.values() if each is not None)
    if total > _MOST or all(each is None for each in chains.values()):
        return UnrolledPlan(plan, {})
    nodes: dict[str, Node] = {}
    names: dict[str, str] = {}
    for name, node in plan.nodes.items():
        repeats = chains[name]
        copies = [name, *(f"{name}\0{index}" for index in range(1, (repeats or 0) + 1))]
        names.update(dict.fromkeys(copies[1:], name))
        for copy, following in zip(copies, [*copies[1:], None], strict=True):
            nodes[copy] = node if repeats is None else replace(node, edges=tuple(_lead(node, following)))
    return UnrolledPlan(replace(plan, nodes=nodes), names)


def _count_repeats(name: str, node: Node) -> int | None:
    """Return how often a node can repeat itself in a row, None if that is no part of its own.

    A validation that fails leads back to what came before the first of these executions: there nothing is unrolled.
    """
    act, validation = node.act, node.validation
    if not isinstance(act, Prompt) or act.repeats is None or (validation is not None and validation.action == "retry"):
        return None
    leads_back = all(edge.target == Go(name) for edge in node.edges if edge.on == _REPEAT)
    return len(act.repeats) if leads_back else None


def _lead(node: Node, following: str | None) -> Iterator[Edge]:
    for edge in node.edges:
        if edge.on != _REPEAT:
            yield edge
        elif following is not None:
            yield replace(edge, target=Go(following))


_NEVER = -(10**30)
"""The weight of what cannot be; sums with it stay below zero."""
_SMALLEST = 2
"""Branches of a fork; with fewer the run fails."""


_Found = tuple[int, tuple[Part | Joint, ...]]
"""A weight, and the parts that it is the sum of, with what stands between them."""
_IMPOSSIBLE: _Found = (_NEVER, ())
_NOTHING: _Found = (0, ())


@value
class RunParts:
    """The parts of the runs from a node, each after all that may follow it, and the nodes that may open scopes.

    They are the same whatever the nodes weigh.
    """

    start: Part
    parts: tuple[Part, ...]
    forking: frozenset[str]


def list_run_parts(plan: Plan, order: Sequence[str], start: str) -> RunParts:
    """Return the parts of the runs from a node on through a graph without cycles.

    `order` has its nodes after all that they lead to.
    """
    forking: set[str] = set()
    for name in order:
        targets = [edge.target for edge in plan.nodes[name].edges]
        opens = any(isinstance(each, Fork | ForEach | Schedule) for each in targets)
        if opens or any(not forking.isdisjoint(_list_next(plan, each)) for each in targets):
            forking.add(name)
    first: Part = (start, Ending.ANY, False)
    wanted: dict[str, dict[Part, None]] = {name: {} for name in order}
    wanted[start][first] = None
    picked: set[tuple[str, Ending]] = set()
    for name in reversed(order):
        for part in wanted[name]:
            for after in _list_after(plan, part, picked):
                wanted[after[0]][after] = None
    return RunParts(first, tuple(part for name in order for part in wanted[name]), frozenset(forking))


def _list_after(plan: Plan, part: Part, picked: set[tuple[str, Ending]]) -> Iterator[Part]:
    """Yield the parts that may follow a part; those of choices that targets have in common once, for all of these."""
    name, mode, is_head = part
    for edge in plan.nodes[name].edges:
        target = edge.target
        if is_head and edge.on != FAIL:
            continue
        if isinstance(target, Pick):
            if (target.choices, mode) in picked:
                continue
            picked.add((target.choices, mode))
        yield from _list_asked(plan, target, mode)


def _list_asked(plan: Plan, target: Target, mode: Ending) -> Iterable[Part]:
    """Return the nodes that may follow an edge, each with the ending that is asked of its branch."""
    if isinstance(target, Fork | ForEach):
        branches = ((each, ending, True) for each in target.nodes for ending in Ending)
        return (*branches, *(() if target.join is None else ((target.join, mode, False),)))
    if isinstance(target, Chain | Schedule):
        return ((each, ending, False) for each in list_targets(target) for ending in {mode, Ending.DONE})
    return ((each, mode, False) for each in _list_next(plan, target))


def _list_next(plan: Plan, target: Target) -> Iterable[str]:
    return plan.choices[target.choices].values() if isinstance(target, Pick) else list_targets(target)


class HeaviestRuns:
    """The runs from a node of a plan without cycles.

    With `is_sum` nodes that run together are added up; else the one counts that takes longest. With `is_time` the waits
    before edges count.
    """

    def __init__(
        self, plan: Plan, runs: RunParts, weights: Mapping[str, int], *, is_sum: bool, is_time: bool = False
    ) -> None:
        self._plan, self._runs, self._weights, self._is_sum, self._is_time = plan, runs, weights, is_sum, is_time
        self._found: dict[Part, _Found] = {}
        self._picked: dict[tuple[str, Ending], _Found] = {}
        for part in runs.parts:
            self._found[part] = self._weigh_part(part)

    def find(self) -> Weight:
        """Return the heaviest run, and its way as far as it is kept."""
        todo: list[Part | Joint] = [self._runs.start]
        way: list[str | Joint] = []
        while todo and len(way) < SHOWN:
            part = todo.pop()
            way.append(part if isinstance(part, Joint) else part[0])
            if not isinstance(part, Joint):
                todo.extend(reversed(self._found[part][1]))
        return Weight(self._found[self._runs.start][0], tuple(way))

    def _weigh_part(self, part: Part) -> _Found:
        name, mode, is_head = part
        node = self._plan.nodes[name]
        talks = isinstance(node.act, Converse)
        # whatever begins can fail, which ends the run; a branch of a fork also ends as done at once
        best = _NOTHING if mode is Ending.ANY or is_head else _IMPOSSIBLE
        for edge in node.edges:
            if not is_head or edge.on == FAIL:
                way = self._take(edge, mode, judged=talks)
                if edge.wait and self._is_time and way[0] >= 0:
                    way = _weigh(way[0] + edge.wait), way[1]
                if way[0] > best[0]:
                    best = way
        return _weigh(best[0] + self._weights[name]), best[1]

    def _take(self, edge: Edge, mode: Ending, *, judged: bool) -> _Found:
        """Return the most that follows when an edge is taken; a verdict keeps a join from following a failure."""
        target = edge.target
        if isinstance(target, Stop) or target == Chain(()):
            ends = isinstance(target, Chain) or target.outcome is Outcome.DONE
            may_join = not (judged and edge.on == FAIL)
            return _NOTHING if mode is Ending.ANY or (ends and (mode is Ending.DONE or may_join)) else _IMPOSSIBLE
        match target:
            case Chain():
                return self._chain(target, mode)
            case Fork():
                return max(self._fork(target, mode), key=lambda each: each[0])
            case ForEach():
                return self._run_each(target, mode)
            case Schedule():
                return self._schedule(target, mode)
            case Pick():
                if (target.choices, mode) not in self._picked:  # which many targets have in common
                    self._picked[target.choices, mode] = self._choose(_list_next(self._plan, target), mode)
                return self._picked[target.choices, mode]
            case _:
                return self._choose(list_targets(target), mode)

    def _choose(self, names: Iterable[str], mode: Ending) -> _Found:
        """Return the heaviest of some nodes of which one follows."""
        found = ((self._found[name, mode, False][0], ((name, mode, False),)) for name in names)
        return max(found, key=lambda each: each[0], default=_IMPOSSIBLE)

    def _chain(self, chain: Chain, mode: Ending) -> _Found:
        """Return how heavy a chain is that ends as asked: with its last node, or with any if nothing is asked."""
        before, best = 0, (_NEVER, 0)
        for index, name in enumerate(chain.nodes):
            if before >= 0 and (mode is Ending.ANY or index == len(chain.nodes) - 1):
                best = max(best, (before + self._found[name, mode, False][0], index), key=lambda each: each[0])
            before += self._found[name, Ending.DONE, False][0]
        done = ((each, Ending.DONE, False) for each in chain.nodes[: best[1]])
        return _weigh(best[0]), (*done, (chain.nodes[best[1]], mode, False))

    def _fork(self, fork: Fork, mode: Ending) -> Iterator[_Found]:
        """Yield how a fork may end: its join follows, it ends as done, or one of its branches ends the run."""
        if len(fork.nodes) < _SMALLEST:
            yield _NOTHING if mode is Ending.ANY else _IMPOSSIBLE
            return
        done = [(each, Ending.DONE, True) for each in fork.nodes]
        if fork.join is not None:
            joined = [(each, Ending.JOINABLE, True) for each in fork.nodes]
            yield self._together(joined, ((fork.join, mode, False),))
        elif mode is Ending.JOINABLE and self._is_sum:
            yield from self._replace_one(done, Ending.JOINABLE)
        elif mode is not Ending.ANY:
            yield self._together(done)
        if mode is Ending.ANY:
            yield self._together(done)
            yield from self._replace_one(done, Ending.ANY)

    def _run_each(self, target: ForEach, mode: Ending) -> _Found:
        """Return no less than the elements of the longest list weigh, each on its heaviest way, and the join."""
        heaviest = [
            max(((each, ending, True) for ending in Ending), key=lambda part: self._found[part][0])
            for each in target.nodes
        ]
        rounds = target.most if self._is_sum else -(-target.most // (target.concurrency or target.most))
        whole = rounds * sum(self._found[each][0] for each in heaviest)
        if target.join is None:
            return _weigh(whole), (*heaviest,)
        return _weigh(whole + self._found[target.join, mode, False][0]), (*heaviest, (target.join, mode, False))

    def _replace_one(self, done: Sequence[Part], mode: Ending) -> Iterator[_Found]:
        """Yield the weights of the branches of a fork if one of them ends in another way than the rest."""
        in_turn = self._plan.limits.parallel == 1 and not any(part[0] in self._runs.forking for part in done)
        weights = [self._found[part][0] for part in done]
        others, best = sum(weights), _NEVER
        chosen = 0
        before = 0
        for index, (name, _, is_head) in enumerate(done):
            own = self._found[name, mode, is_head][0]
            if self._is_sum:  # on one place, those behind a branch that ends the run have not begun
                around = before if in_turn and mode is Ending.ANY else others - weights[index]
                own += around
            if own > best:
                best, chosen = own, index
            before += weights[index]
        kept = done[:chosen] if in_turn and mode is Ending.ANY else done
        parts = [*kept[:chosen], (done[chosen][0], mode, True), *kept[chosen + 1 :]]
        yield _weigh(best), (*_join(parts),)

    def _together(self, parts: Sequence[Part], then: Sequence[Part] = ()) -> _Found:
        weights = [self._found[each][0] for each in parts]
        whole = sum(weights) if self._is_sum or min(weights) < 0 else max(weights)
        return _weigh(whole + sum(self._found[each][0] for each in then)), (*_join(parts), *then)

    def _schedule(self, schedule: Schedule, mode: Ending) -> _Found:
        parts = [(each, Ending.ANY if mode is Ending.ANY else Ending.DONE, False) for each in schedule.needs]
        weights = [self._found[each][0] for each in parts]
        if not self._is_sum and min(weights, default=0) >= 0:
            return _weigh(order_names(schedule.needs).find_longest(weights).length), (*_join(parts),)
        return _weigh(sum(weights)), (*_join(parts),)


def _weigh(weight: int) -> int:
    return min(MOST, weight) if weight >= 0 else _NEVER


def _join(parts: Sequence[Part]) -> Iterator[Part | Joint]:
    """Yield parts that run together with what stands between them."""
    yield Joint.OPEN
    for index, each in enumerate(parts):
        yield from (Joint.NEXT, each) if index else (each,)
    yield Joint.CLOSE


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
        """Return the targets of a failed validation: nodes that may have led there; with scopes these may be any."""
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
            isinstance(edge.target, Fork | Chain | ForEach | Schedule)
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

    def find_longest(self, weights: Weights, *, is_time: bool = False) -> Weight | None:
        """Return the heaviest run, nodes that run together counted one by one; None where nothing bounds it.

        With `is_time` the waits before edges count: each execution of a run that may repeat waits as long as its node
        may.
        """
        limit = self._plan.limits.executions
        found = None if self.cycles else self._cross(weights, is_sum=True, is_time=is_time)
        if limit is None or (found is not None and not self.forks and len(self.nodes) <= limit):
            return found
        walked = self._walk(self._add_waits(weights) if is_time else weights, limit)
        if found is None or walked.total < found.total:
            return walked if found is None or not self.forks else Weight(walked.total, self._cut(found.way, limit))
        return found

    def _add_waits(self, weights: Weights) -> Weights:
        longest = {name: max((edge.wait for edge in self._plan.nodes[name].edges), default=0) for name in self.nodes}
        return {name: min(MOST, each + longest.get(name, 0)) for name, each in weights.items()}

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
        whole = self.find_longest(weights, is_time=True)
        if self.cycles or not self.forks or whole is None:
            return whole
        span = self._cross(weights, is_sum=False, is_time=True)
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
        """The parts of runs, without cycles only."""
        return list_run_parts(self._plan, [name for name in self._order if isinstance(name, str)], self._start)

    def _cross(self, weights: Weights, *, is_sum: bool, is_time: bool = False) -> Weight:
        """Find the heaviest way through a graph without cycles."""
        return HeaviestRuns(self._plan, self._parts, weights, is_sum=is_sum, is_time=is_time).find()

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
        """The possible successors of each node if the branches of a scope ran in sequence, which changes no sum.

        The limit may end a branch anywhere: each of its nodes may be the last before the next branch or the join.
        None where that is too much. The first of the nodes is the one with which runs begin.
        """
        import networkx as nx

        if any(isinstance(target, ForEach | Schedule) for name in self.nodes for target in self._targets(name)):
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
        """Yield the possible successors of a node: of a scope the first branch, of a failed validation the node before.

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
    if isinstance(target, ForEach):
        one = max(best[each] for each in target.nodes)
        return max(one * min(target.most, target.concurrency or target.most), best.get(target.join, 1))
    if isinstance(target, Fork):
        return max(sum(best[each] for each in target.nodes), 1 if target.join is None else best[target.join])
    known = [best[each] for each in _ahead(target)]
    return sum(known) if isinstance(target, Schedule) else max(known, default=1)
