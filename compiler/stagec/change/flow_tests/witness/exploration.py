"""Explore the runs of a program on the machine itself, those first that may be completed with the fewest executions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import count

from stagec.change.flow_tests.paths.choices import AnswerChoice, Chooser
from stagec.change.flow_tests.paths.search import Positions, RunPosition
from stagec.core.json import Json
from stagec.core.value import value
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Named, Node, Outcome, Pick, Schedule, Stop, Target
from stagec.runtime.machine import Answered, Effect, Program, Started, StepResult, advance
from stagec.runtime.machine.exchange import Event, choose_next, read_key
from stagec.runtime.machine.state import Scope, State

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
        ways = (least + sum(map(self._of_hub, needs)) for least, needs in _list_needs(edge.target))
        return min(ways, default=FAR)

    def of_state(self, state: State) -> int:
        """Return how many executions have yet to begin at least until a run is completed."""
        left = sum(self._of(each.node) - 1 for each in state.active.values() if not each.begins_branch)
        left += sum(1 if each.begins_branch else self._of(each.node) for each in state.waiting)
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
    ways: list[tuple[_Name, int, _Needs]] = [
        ((name,), 0, (node,)) for name, nodes in plan.choices.items() for node in dict.fromkeys(nodes.values())
    ]
    ways += (
        (name, 1 + least, needs)
        for name, node in plan.nodes.items()
        for edge in _list_taken(node)
        for least, needs in _list_needs(edge.target)
    )
    missing = [len(needs) for *_, needs in ways]
    weights = [weight for _, weight, _ in ways]
    waiting: dict[_Name, list[int]] = {}
    queue: list[tuple[int, int]] = []
    for at, (*_, needs) in enumerate(ways):
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


def _list_taken(node: Node) -> Iterator[Edge]:
    """Yield the edges of a node that come before one of the same outcome without conditions, and that one."""
    decided = set[str]()
    for edge in node.edges:
        if edge.on not in decided:
            yield edge
        if not edge.when and not isinstance(edge.target, Named | Pick):
            decided.add(edge.on)


def _list_needs(target: Target) -> Iterator[tuple[int, _Needs]]:
    """Yield what a target needs to be completed: how many executions, and the nodes with what follows them.

    Once for each alternative. Nothing has to follow the nodes that begin the branches of a fork.
    """
    match target:
        case Go():
            yield 0, (target.node,)
            if target.otherwise is not None:
                yield 0, (target.otherwise,)
        case Fork() | ForEach():  # a list may be empty
            least = len(target.nodes) if isinstance(target, Fork) else 0
            yield least, () if target.join is None else (target.join,)
        case Chain():
            yield 0, target.nodes
        case Named():
            yield from ((0, (node,)) for node in dict.fromkeys(target.nodes.values()))
        case Pick():
            yield 0, ((target.choices,),)
        case Schedule():
            yield 0, tuple(target.needs)
        case Stop(outcome=Outcome.DONE):
            yield 0, ()
        case Stop():
            pass


Exchange = tuple[Effect, Json]
"""A request and the answer to it."""


class WorkUsedUpError(Exception):
    """A search has made as many steps of the machine as it may make."""


class Work:
    """How many steps of the machine a search may still make: the same search always makes the same steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def advance(self, program: Program, state: State, event: Event) -> StepResult:
        """Make one step, or raise `WorkUsedUpError`."""
        if self.left <= 0:
            raise WorkUsedUpError
        self.left -= 1
        return advance(program, state, event)


@value
class Reached:
    """Where a run stands: its state and last result, the run before and what was answered since, and what that cost.

    `odd` counts the answers that nobody expects.
    """

    started: Started
    state: State
    last: Json = None
    before: Reached | None = None
    asked: tuple[Exchange, ...] = ()
    cost: int = 0
    odd: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the run is completed."""
        return self.state.ended is Outcome.DONE

    def list_answered(self) -> tuple[Exchange, ...]:
        """Return all requests of the run with their answers."""
        parts: list[tuple[Exchange, ...]] = []
        reached: Reached | None = self
        while reached is not None:
            parts.append(reached.asked)
            reached = reached.before
        return tuple(exchange for part in reversed(parts) for exchange in part)


class Explorer:
    """Plays the runs of one program, within some work."""

    def __init__(self, program: Program, chooser: Chooser, work: Work, distances: Distances) -> None:
        self._program, self._chooser, self._work, self._distances = program, chooser, work, distances
        self._positions = Positions(program)
        self.asked: dict[tuple[str, str], Effect] = {}
        """One request of each kind of every node, by the node and the kind."""

    def begin(self, started: Started) -> Reached:
        """Return a run that has begun."""
        step = self._work.advance(self._program, State(), started)
        return Reached(started, step.state, step.last)

    def dive(self, begun: Reached, most: int) -> Reached | None:
        """Return a completed run of at most so many executions, if the first answer that may lead there always does."""
        reached = begun
        while reached.state.ended is None:
            following = None
            for choice in self._chooser.find_choices(self._find_next(reached)):
                after = self._play(reached, choice)
                if after is not None and self._measure(after) <= most:
                    following = after
                    break
            if following is None:
                return None
            reached = following
        return reached if reached.is_done else None

    def explore(self, begun: Iterable[Reached]) -> Iterator[Reached]:
        """Yield the runs that have ended, completed ones with fewer executions first; of alike runs the shortest."""
        order = count()
        queue: list[tuple[int, int, int, Reached, int]] = []
        least: dict[tuple[int, RunPosition], int] = {}
        for start, each in enumerate(begun):
            heappush(queue, (self._measure(each), each.cost, -next(order), each, start))
        while queue:
            *_, reached, start = heappop(queue)
            if reached.state.ended is not None:
                yield reached
                continue
            position = start, self._positions.find(reached.state)
            executions = reached.state.executions
            if least.get(position, executions + 1) <= executions:
                continue
            least[position] = executions
            for choice in self._chooser.find_choices(self._find_next(reached)):
                after = self._play(reached, choice)
                if after is not None:
                    heappush(queue, (self._measure(after), after.cost, -next(order), after, start))

    def _measure(self, reached: Reached) -> int:
        """Return how many executions a run has at least when it is completed."""
        state = reached.state
        return state.executions + (0 if state.ended is not None else self._distances.of_state(state))

    def _find_next(self, reached: Reached) -> Effect:
        effect = choose_next(reached.state.pending.values())
        self.asked.setdefault((read_key(effect.key).node, type(effect).__name__), effect)
        return effect

    def _play(self, before: Reached, choice: AnswerChoice) -> Reached | None:
        """Return a run after a choice, and what follows from it; nothing where that is not known."""
        effect, answer = choose_next(before.state.pending.values()), choice.answer
        asked: list[Exchange] = []
        state, last, odd = before.state, before.last, before.odd + choice.is_odd
        while True:
            step = self._work.advance(self._program, state, Answered(effect.key, answer))
            asked.append((effect, answer))
            state, last = step.state, step.last if step.moves else last
            after = Reached(before.started, state, last, before, tuple(asked), before.cost + choice.cost, odd)
            if state.ended is not None or choice.follow is None:
                return after
            effect = choose_next(state.pending.values())
            try:
                answer = choice.follow(effect)
            except LookupError as error:
                return after if error.args == (effect.key,) else None
