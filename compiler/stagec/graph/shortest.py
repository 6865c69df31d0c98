"""The lightest run that is completed, by any weight of its nodes, also through cycles.

It is found as Knuth generalises the algorithm of Dijkstra: what follows a node is done when each of its branches is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from stagec.core.value import value
from stagec.graph.expense import MOST
from stagec.graph.way import FAIL, SHOWN, Ending, Joint, Part, Weight
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.plan.node import Chain, Edge, Fork, Outcome, Pick, Schedule, Stop, list_targets

Weigh = Callable[[Part, str | None], int | None]
"""Returns what a node weighs with an outcome, None being any but a failure; None where that outcome does not count."""


_Parts = tuple[Part | Joint, ...]
"""Parts of a run with what stands between them."""


@value
class _Choice:
    """One way on: what it is for, its own weight, and the parts that follow, with what stands between them."""

    part: Part
    weight: int
    parts: _Parts = ()


class ShortestRuns:
    """The completed runs of a plan from one node on, as far as nobody fails who need not."""

    def __init__(self, plan: Plan, start: str, weigh: Weigh) -> None:
        self._plan, self._start, self._weigh = plan, (start, Ending.DONE, False), weigh
        self._best: dict[Part, _Choice] = {}
        self._total: dict[Part, int] = {}
        self._search()

    def find(self) -> Weight | None:
        """Return the lightest completed run and its way; None where none is completed."""
        if self._start not in self._total:
            return None
        todo: list[Part | Joint] = [self._start]
        way: list[str | Joint] = []
        while todo and len(way) < SHOWN:
            part = todo.pop()
            if isinstance(part, Joint) or part[0] in self._plan.nodes:
                way.append(part if isinstance(part, Joint) else part[0])
            if not isinstance(part, Joint):
                todo.extend(reversed(self._best[part].parts))
        return Weight(self._total[self._start], tuple(way))

    def _search(self) -> None:
        """Settle the parts from the lightest to the heaviest; a choice counts when all that follows it is settled."""
        choices = [*self._list_choices()]
        needed = [{each for each in choice.parts if not isinstance(each, Joint)} for choice in choices]
        missing = [len(each) for each in needed]
        waiting: dict[Part, list[int]] = {}
        for number, parts in enumerate(needed):
            for part in parts:
                waiting.setdefault(part, []).append(number)
        queue = [(choice.weight, number) for number, choice in enumerate(choices) if not missing[number]]
        heapify(queue)
        while queue:
            total, settled = heappop(queue)
            choice = choices[settled]
            if choice.part in self._total:
                continue
            self._total[choice.part], self._best[choice.part] = total, choice
            for number in waiting.get(choice.part, ()):
                missing[number] -= 1
                if not missing[number]:
                    heappush(queue, (self._add(choices[number]), number))

    def _add(self, choice: _Choice) -> int:
        """Return what a choice weighs with all that follows it."""
        after = (self._total[each] for each in choice.parts if not isinstance(each, Joint))
        return min(MOST, choice.weight + sum(after))

    def _list_choices(self) -> Iterator[_Choice]:
        """Yield every way on from every part that a run may come to."""
        todo: list[Part] = [self._start]
        known = set(todo)
        for part in todo:  # grows while it is read
            for choice in self._list_ways(part):
                yield choice
                ahead = [each for each in choice.parts if not isinstance(each, Joint) and each not in known]
                known.update(ahead)
                todo.extend(dict.fromkeys(ahead))

    def _list_ways(self, part: Part) -> Iterator[_Choice]:
        name, mode, is_head = part
        if name not in self._plan.nodes:  # the choices that several targets have in common
            for each in dict.fromkeys(self._plan.choices[name.removeprefix(_HUB)].values()):
                yield _Choice(part, 0, ((each, mode, False),))
            return
        node = self._plan.nodes[name]
        at_once: list[tuple[str | None, Iterator[_Parts]]] = [(None, iter([()]))] if is_head else []
        judged = isinstance(node.act, Converse)
        edges = (edge for edge in node.edges if not is_head or edge.on == FAIL)
        for on, found in (*at_once, *((edge.on, self._take(edge, mode, judged=judged)) for edge in edges)):
            weight = self._weigh(part, on)
            if weight is not None:
                for parts in found:
                    yield _Choice(part, weight, parts)

    def _take(self, edge: Edge, mode: Ending, *, judged: bool) -> Iterator[_Parts]:
        """Yield what follows when an edge is taken, as one or another of several parts."""
        target = edge.target
        if isinstance(target, Stop) or target == Chain(()):
            ends = isinstance(target, Chain) or target.outcome is Outcome.DONE
            if ends and not (mode is Ending.JOINABLE and judged and edge.on == FAIL):
                yield ()
        elif isinstance(target, Pick):
            yield ((f"{_HUB}{target.choices}", mode, False),)
        elif isinstance(target, Fork | Chain | Schedule):
            yield from self._open(target, mode)
        else:
            yield from (((each, mode, False),) for each in dict.fromkeys(list_targets(target)))

    def _open(self, target: Fork | Chain | Schedule, mode: Ending) -> Iterator[_Parts]:
        """Yield the branches of a scope, and its join; nothing follows a fork with a single branch."""
        if isinstance(target, Chain):
            done = ((each, Ending.DONE, False) for each in target.nodes[:-1])
            yield (*done, (target.nodes[-1], mode, False))
        elif isinstance(target, Schedule):
            yield (*_join(tuple(target.needs), Ending.DONE, is_head=False),)
        elif len(target.nodes) > 1:
            within = Ending.DONE if target.join is None else Ending.JOINABLE
            join = () if target.join is None else ((target.join, mode, False),)
            yield (*_join(target.nodes, within, is_head=True), *join)


_HUB = "\0\0"
"""Begins the name of what stands for choices; no node of a plan that can be read begins so."""


def _join(names: Sequence[str], mode: Ending, *, is_head: bool) -> Iterator[Part | Joint]:
    yield Joint.OPEN
    for index, each in enumerate(names):
        part = (each, mode, is_head)
        yield from (Joint.NEXT, part) if index else (part,)
    yield Joint.CLOSE
