"""The lightest run that is completed, by any weight of its nodes, also through cycles.

It is found as Knuth generalises the algorithm of Dijkstra: what follows a node is done when each of its branches is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from stagec.core.value import value
from stagec.graph.expense import MOST
from stagec.graph.way import FAIL, SHOWN, Ending, Joint, Part, Weight
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.plan.node import Chain, Edge, Fork, Outcome, Pick, Schedule, Stop, list_targets

Counts = Callable[[Part, str | None], bool]
"""Tells whether an outcome of a node counts, None being any but a failure."""
Weigh = Callable[[Part, str | None], int]
"""Returns what a node weighs with an outcome that counts."""


_Parts = tuple[Part | Joint, ...]
"""Parts of a run with what stands between them."""


@value
class _Choice:
    """One way on: what it is for, the outcome that is weighed, and the parts that follow, with what is between them.

    Nothing is weighed of what several targets have in common.
    """

    part: Part
    on: str | None
    parts: _Parts = ()
    is_weighed: bool = True


class ShortestRuns:
    """The completed runs of a plan from one node on, as far as nobody fails who need not."""

    def __init__(self, plan: Plan, start: str, counts: Counts) -> None:
        self._plan, self._start, self._counts = plan, (start, Ending.DONE, False), counts
        self._choices = [*self._list_choices()]
        needed = [{each for each in choice.parts if not isinstance(each, Joint)} for choice in self._choices]
        self._missing = [len(each) for each in needed]
        self._waiting: dict[Part, list[int]] = {}
        for number, parts in enumerate(needed):
            for part in parts:
                self._waiting.setdefault(part, []).append(number)

    def find(self, weigh: Weigh) -> Weight | None:
        """Return the lightest completed run and its way; None where none is completed."""
        total, best = self._settle(weigh)
        if self._start not in total:
            return None
        todo: list[Part | Joint] = [self._start]
        way: list[str | Joint] = []
        while todo and len(way) < SHOWN:
            part = todo.pop()
            if isinstance(part, Joint) or part[0] in self._plan.nodes:
                way.append(part if isinstance(part, Joint) else part[0])
            if not isinstance(part, Joint):
                todo.extend(reversed(best[part].parts))
        return Weight(total[self._start], tuple(way))

    def _settle(self, weigh: Weigh) -> tuple[dict[Part, int], dict[Part, _Choice]]:
        """Settle the parts from the lightest to the heaviest; a choice counts when all that follows it is settled."""
        totals: dict[Part, int] = {}
        best: dict[Part, _Choice] = {}
        choices, missing = self._choices, [*self._missing]
        queue = [(_weigh(each, weigh, totals), at) for at, each in enumerate(choices) if not missing[at]]
        heapify(queue)
        while queue:
            total, settled = heappop(queue)
            choice = choices[settled]
            if choice.part in totals:
                continue
            totals[choice.part], best[choice.part] = total, choice
            for number in self._waiting.get(choice.part, ()):
                missing[number] -= 1
                if not missing[number]:
                    heappush(queue, (_weigh(choices[number], weigh, totals), number))
        return totals, best

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
                yield _Choice(part, None, ((each, mode, False),), is_weighed=False)
            return
        node = self._plan.nodes[name]
        at_once: list[tuple[str | None, Iterator[_Parts]]] = [(None, iter([()]))] if is_head else []
        judged = isinstance(node.act, Converse)
        edges = (edge for edge in node.edges if not is_head or edge.on == FAIL)
        for on, found in (*at_once, *((edge.on, self._take(edge, mode, judged=judged)) for edge in edges)):
            if self._counts(part, on):
                yield from (_Choice(part, on, parts) for parts in found)

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


def _weigh(choice: _Choice, weigh: Weigh, totals: Mapping[Part, int]) -> int:
    """Return what a choice weighs with all that follows it."""
    own = weigh(choice.part, choice.on) if choice.is_weighed else 0
    return min(MOST, own + sum(totals[each] for each in choice.parts if not isinstance(each, Joint)))


_HUB = "\0\0"
"""Begins the name of what stands for choices; no node of a plan that can be read begins so."""


def _join(names: Sequence[str], mode: Ending, *, is_head: bool) -> Iterator[Part | Joint]:
    yield Joint.OPEN
    for index, each in enumerate(names):
        part = (each, mode, is_head)
        yield from (Joint.NEXT, part) if index else (part,)
    yield Joint.CLOSE
