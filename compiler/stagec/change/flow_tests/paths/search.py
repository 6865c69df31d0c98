"""Search through the runs of a program: every answer that may lead elsewhere is tried on the machine itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import count

from stagec.change.flow_tests.coverage import CoveredPart, find_part, list_rules_run
from stagec.change.flow_tests.paths.choices import AnswerChoice, Chooser
from stagec.change.flow_tests.paths.positions import Positions, RunPosition
from stagec.change.flow_tests.watched_steps import Taken, WatchedStep, WatchedSteps
from stagec.core.json import Json
from stagec.core.value import NOTHING, replace, value
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse
from stagec.runtime.machine import Answered, Effect, Move, Program, Started, State
from stagec.runtime.machine.exchange import Turn, choose_next, execution_of, request_key
from stagec.runtime.machine.execution import Conversation

Pair = tuple[tuple[str, int], tuple[str, int]]
"""Two edges one after the other, each by its node and its number."""
Item = CoveredPart | Pair
"""An item to cover."""
END = -1
"""The number of the position after the end of a run."""
PATIENCE = 3_000
"""Answers that are tried without finding anything new before a search is given up."""
_WIDE = 16
"""Branches that an answer may concern before it counts as several."""
_WORK = 200_000
"""Branches that run or wait when answers are tried, summed up, before a search is given up: each answer in a wide fork
takes time and memory for all of its branches."""
_IDLE = f"{PATIENCE:,} further answers led to nothing new"
_TOO_WIDE = "the search was given up: forks with too many branches"
_KEPT = 200_000
"""Branches after all steps that are kept, because other runs begin with the same ones."""
_EXECUTION, _NOT_DONE = 1_000, 2_500
"""The cost of an execution, and that of an end other than done: a few executions more are a better test."""


@value
class Played:
    """A run as far as it has come: the requests with their answers, what was covered, and where it stands.

    `start` is the number of its beginning, `cost` what it has cost so far. `leading` says of nodes by which edge they
    are come to; `last` is the last result.
    """

    started: Started
    start: int = 0
    cost: int = 0
    state: State = State()
    answered: tuple[tuple[Effect, Json], ...] = ()
    items: frozenset[Item] = frozenset()
    leading: Mapping[str, tuple[str, int]] = NOTHING
    last: Json = None


@value
class Arc:
    """A choice at a position: its target, its cover, its cost, and the number of executions that it begins."""

    source: int
    choice: str
    target: int
    items: frozenset[Item]
    cost: int
    executions: int
    last: Json = None
    outcome: str = ""


class Player:
    """Plays choices on the machine; with `pairs`, pairs of edges are taken note of as well.

    `steps` are those that were made.
    """

    def __init__(self, program: Program, chooser: Chooser, *, pairs: bool = False) -> None:
        self._plan, self.steps = program.plan, WatchedSteps(program, _KEPT)
        self._chooser, self._pairs = chooser, pairs
        self._positions = Positions(program)

    def start(self, started: Started) -> Played:
        """Return a run that has begun."""
        return self._take(Played(started), self.steps.advance(State(), started))

    def find_choices(self, played: Played) -> Iterator[AnswerChoice]:
        """Yield the answers that are possible now."""
        return self._chooser.find_choices(choose_next(played.state.pending.values()))

    def play(self, played: Played, choice: AnswerChoice) -> Played | None:
        """Return a run after a choice, and what follows from it; None if that is not known."""
        effect, answer = choice.find_request(played.state.pending), choice.answer
        answered = [*played.answered]
        while True:
            before = played.state
            played = self._take(played, self.steps.advance(before, Answered(effect.key, answer)))
            answered.append((effect, answer))
            if played.state.ended is not None or choice.follow is None:
                break
            effect = choose_next(played.state.pending.values())
            try:
                answer = choice.follow(effect)
            except LookupError as error:
                if error.args != (effect.key,):
                    return None
                break
            if choice.repeats and isinstance(effect, Turn):
                state, (*passed, effect) = pass_turns(self._plan, before, played.state, effect)
                played = replace(played, state=state)
                answered += [(each, answer) for each in passed]
        return replace(played, answered=(*answered,))

    def find_position(self, played: Played) -> RunPosition:
        """Return the position of a run."""
        found = self._positions.find(played.state)
        return replace(found, memory=(found.memory, *sorted(played.leading.items()))) if self._pairs else found

    def _take(self, played: Played, step: WatchedStep) -> Played:
        rules = [*list_rules_run(self._plan, step.judged)]
        if not step.moves and not rules:  # most steps are turns within one execution
            return replace(played, state=step.state)
        leading = dict(played.leading)
        items: set[Item] = {*played.items, *rules}
        for move, edge in step.moves:
            items |= self._follow(move, edge, leading)
        last = step.last if step.moves else played.last
        return replace(played, state=step.state, items=frozenset(items), leading=leading, last=last)

    def _follow(self, move: Move, taken: Taken | None, leading: dict[str, tuple[str, int]]) -> set[Item]:
        """Return the parts that a move covers, and remember the edges by which its nodes are reached."""
        before = leading.pop(move.node, None)
        items: set[Item] = {CoveredPart("node", move.node)}
        if taken is not None:
            edge = taken[:2]
            items |= {find_part(self._plan, taken), *(() if before is None else ((before, edge),))}
            if self._pairs:
                leading |= dict.fromkeys(move.to, edge)
        return items


def pass_turns(plan: Plan, before: State, after: State, turn: Turn) -> tuple[State, list[Turn]]:
    """Return the state in which a model is asked for the last turn, and the turns from `turn` to that one.

    The same answer has led from `before`, where the model was asked for a turn, to `after`, where it is asked for the
    next. Until the last turn a stage only counts them, so each changes what this one has changed. Most of the time of a
    search would go into executing them one by one.
    """
    key = execution_of(turn.key)
    earlier, execution = before.active.get(key), after.active.get(key)
    if earlier is None or execution is None:
        return after, [turn]
    was, now, act = earlier.progress, execution.progress, plan.nodes[execution.node].act
    if not (isinstance(was, Conversation) and isinstance(now, Conversation) and isinstance(act, Converse)):
        return after, [turn]
    known, left = len(was.transcript), act.turns - now.turns
    following = replace(was, transcript=now.transcript, turns=was.turns + 1, finish=now.finish)
    if now != following or now.transcript[:known] != was.transcript or turn.transcript != now.transcript or left < 1:
        return after, [turn]
    turns = [turn]
    for more in range(1, left + 1):
        said = (*turns[-1].transcript, *now.transcript[known:])
        asked = request_key(key, execution.attempt, execution.asked - 1 + more)
        turns.append(replace(turn, key=asked, transcript=said))
    last = turns[-1]
    now = replace(now, transcript=last.transcript, turns=act.turns)
    moved = replace(execution, asked=execution.asked + left, progress=now)
    pending = {name: each for name, each in after.pending.items() if name != turn.key}
    traced = after.traced + left * (after.traced - before.traced)
    state = replace(after, active={**after.active, key: moved}, pending={**pending, last.key: last}, traced=traced)
    return state, turns


def _measure_width(state: State) -> int:
    return len(state.active) + len(state.waiting)


class SearchGraph:
    """The positions that runs can come to, and the choices there; `given_up` says why the search ended before.

    `failures` are the details of failures by their node and kind. The nearest position is looked at first. In a wide
    fork that would try every combination of what its branches do, so there the expected answers are followed to the end
    of a run first.
    """

    def __init__(self, player: Player, starts: Iterable[Started]) -> None:
        self.player = player
        self.starts = tuple(starts)
        self.arcs: list[list[Arc]] = []
        self.positions: list[RunPosition] = []
        self.given_up = ""
        self.failures: dict[tuple[str, str], str] = {}
        self._index: dict[tuple[int, RunPosition], int] = {}
        self._queue: list[tuple[int, int, int, Played]] = []  # what is followed to the end has a rank below zero
        self._count = count()
        self._is_led = False  # into a wide fork, which is done once
        self.first = [
            self._reach(
                END, AnswerChoice("start", None, 1 + len(started.inputs)), 0, Played(started, at), player.start(started)
            )
            for at, started in enumerate(self.starts)
        ]
        self._search()

    @property
    def is_too_wide(self) -> bool:
        """Whether the search was given up because each answer takes too much."""
        return self.given_up == _TOO_WIDE

    def number(self, start: int, position: RunPosition) -> int | None:
        """Return the number of a position in the runs from a start, nothing of one that was not come to."""
        return self._index.get((start, position))

    def _search(self) -> None:
        """Look at positions, the nearest first, as long as there are any, and something new is found now and then."""
        done: set[int] = set()
        known: set[Item] = set()
        patience, work = PATIENCE, _WORK
        while self._queue:
            rank, _, number, played = heappop(self._queue)
            if number in done:
                continue
            done.add(number)
            width = _measure_width(played.state)
            effort = 1 + width // _WIDE
            for choice in self.player.find_choices(played):
                after = self.player.play(played, choice)
                work -= width
                if after is not None:
                    self.arcs[number].append(self._reach(number, choice, rank, played, after))
                    patience = patience - effort if known >= after.items else PATIENCE
                    known |= after.items
            if patience < 0 or work < 0:
                self.given_up = _IDLE if patience < 0 else _TOO_WIDE
                return

    def _reach(self, source: int, choice: AnswerChoice, rank: int, before: Played, after: Played) -> Arc:
        """Return the arc between two states of a run; the second one is looked at later, if nobody has been there."""
        executions = after.state.executions - before.state.executions
        cost = choice.cost + executions * _EXECUTION
        items, ended = after.items - before.items, after.state.ended
        if ended is not None:
            why = after.state.failure
            if why is not None:
                self.failures.setdefault((why.node or "", why.kind), why.detail)
            cost += 0 if ended == "done" else _NOT_DONE
            return Arc(source, choice.name, END, items, cost, executions, after.last, str(ended))
        position = self.player.find_position(after)
        number = self._index.setdefault((before.start, position), len(self.arcs))
        if number == len(self.arcs):
            self.arcs.append([])
            self.positions.append(position)
        fresh = replace(after, items=frozenset[Item](), answered=(), start=before.start, cost=before.cost + cost)
        leads = not choice.is_odd and (rank < 0 or (not self._is_led and _measure_width(after.state) > _WIDE))
        self._is_led = self._is_led or leads
        heappush(self._queue, (min(rank, 0) - 1 if leads else fresh.cost, next(self._count), number, fresh))
        return Arc(source, choice.name, number, items, cost, executions)
