"""The heaviest run through a graph without cycles, by any weight of its nodes.

One branch of a run may end it: then all others have ended as done before, as far as they have begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stagec.core.precedence import order_names
from stagec.core.value import value
from stagec.graph.expense import MOST
from stagec.graph.way import FAIL, SHOWN, Ending, Joint, Part, Weight
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.plan.node import Chain, Edge, Fork, Outcome, Pick, Schedule, Stop, Target, list_targets

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
        if any(isinstance(each, Fork | Schedule) or not forking.isdisjoint(_list_next(plan, each)) for each in targets):
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
    """Return the parts that may follow an edge, where so much is asked of the branch that takes it."""
    if isinstance(target, Fork):
        branches = ((each, ending, True) for each in target.nodes for ending in Ending)
        return (*branches, *(() if target.join is None else ((target.join, mode, False),)))
    if isinstance(target, Chain | Schedule):
        return ((each, ending, False) for each in list_targets(target) for ending in {mode, Ending.DONE})
    return ((each, mode, False) for each in _list_next(plan, target))


def _list_next(plan: Plan, target: Target) -> Iterable[str]:
    return plan.choices[target.choices].values() if isinstance(target, Pick) else list_targets(target)


class HeaviestRuns:
    """The runs from a node of a plan without cycles.

    With `is_sum` nodes that run together are added up; else the one counts that takes longest.
    """

    def __init__(self, plan: Plan, runs: RunParts, weights: Mapping[str, int], *, is_sum: bool) -> None:
        self._plan, self._runs, self._weights, self._is_sum = plan, runs, weights, is_sum
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

    def _replace_one(self, done: Sequence[Part], mode: Ending) -> Iterator[_Found]:
        """Yield what the branches of a fork weigh if one of them ends in another way than the rest."""
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
