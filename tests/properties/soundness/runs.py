"""One run of a plan, watched: what must hold of every state, and which kinds of things have happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from properties.soundness.kinds import of_edge, of_step
from properties.soundness.worlds import Known, World, given

from stagec.core.value import replace
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan.node import Edge
from stagec.runtime.machine import Answered, Cancelled, Program, Started, State, StepResult, advance
from stagec.runtime.machine.exchange import Ask, Event, Turn
from stagec.runtime.machine.execution import Branch, Execution
from stagec.runtime.machine.state import PendingNode

MOST = 20_000
"""Transitions of one run; every run ends long before."""
_IMPATIENCE = 0.02
LOST = "leads nowhere"
SILENT = "no intent that is allowed"


class UnsoundError(AssertionError):
    """Something happened in a run that never may."""


class Watched:
    """The edges of one node and one outcome; whoever takes one of them is noticed."""

    def __init__(self, edges: tuple[Edge, ...], kinds: Counter[str], node: str) -> None:
        self._edges = edges
        self._kinds = kinds
        self._node = node

    def __iter__(self) -> Iterator[Edge]:
        for each in self._edges:
            try:
                yield each
            except GeneratorExit:
                self._kinds.update(of_edge(self._node, each, self._edges))
                raise


def watched(program: Program, kinds: Counter[str]) -> Program:
    """Return a program that tells which edges are taken."""
    routes: Any = {
        node: {outcome: Watched(edges, kinds, node) for outcome, edges in ways.items()}
        for node, ways in program.routes.items()
    }
    return replace(program, routes=routes)


class Tried:
    """A run, from its beginning to its end."""

    def __init__(
        self, program: Program, random: Random, kinds: Counter[str], known: Known, *, rude: bool = False
    ) -> None:
        self._random = random
        self._kinds = kinds
        self._program = watched(program, kinds)
        self._world = World(random, program.plan, known, rude=rude)
        self._keys: set[str] = set()
        self.transitions = 0
        self.turns = 0
        self.state = State()

    def run(self) -> State:
        """Run until the end, and raise `UnsoundError` when anything is not as it must be."""
        plan = self._program.plan
        entry = (
            self._random.choice((None, *plan.entries))
            if plan.entry is not None
            else self._random.choice([*plan.entries])
        )
        step = self._advance(Started("run", entry, given(self._random, plan)))
        while step.state.ended is None:
            step = self._advance(self._event(step.state))
            if self.transitions > MOST:
                raise UnsoundError(f"no end after {MOST} transitions")
        if self._random.random() < 0.1:
            self._look_at_bounds(plan.entry if entry is None else entry)
            self._settled(step.state)
        return step.state

    def _look_at_bounds(self, entry: str | None) -> None:
        """Show that the run has taken no more than the bounds of its entry."""
        found = next(each for each in bound(self._program.plan, Assumed()).entries if each.entry == entry)
        for what, most, taken in (
            ("executions", found.executions.most, self.state.executions),
            ("turns", found.turns.most, self.turns),
        ):
            if most is not None and taken > most:
                raise UnsoundError(f"{taken} {what} are more than its bound of {most}")

    def _event(self, state: State) -> Event:
        """Return what happens next: the world answers something, or somebody loses patience."""
        if self._world.is_rude and self._random.random() < _IMPATIENCE:
            return Cancelled("enough")
        key = self._random.choice(list(state.pending))
        return Answered(key, self._world.answer(state.pending[key]))

    @property
    def is_fair(self) -> bool:
        """Tell whether every answer was as it should be."""
        return not self._world.is_mute

    def _advance(self, event: Any) -> StepResult:
        before = self.state
        step = advance(self._program, before, event)
        self.transitions += 1
        self.turns += sum(isinstance(each, Ask | Turn) for each in step.effects)
        self._kinds.update(of_step(self._program.plan, before, event, step))
        self.state = step.state
        for problem in (*self._keys_of(before, step), *problems(self._program, step.state, self.turns)):
            raise UnsoundError(f"{problem} after {event}")
        return step

    def _keys_of(self, before: State, step: StepResult) -> Iterator[str]:
        """Yield what is wrong with what is asked: nothing twice, and nothing void that was not asked."""
        for each in step.effects:
            if each.key in self._keys:
                yield f"{each.key} is asked twice"
            if step.state.ended is None and each.key not in step.state.pending:
                yield f"{each.key} is asked and not pending"
        self._keys.update(each.key for each in step.effects)
        for key in step.void:
            if key not in before.pending or key in step.state.pending:
                yield f"{key} is void and was not pending, or still is"

    def _settled(self, state: State) -> None:
        """Show that nothing comes after the end."""
        for event in (Started("again"), Answered(next(iter(self._keys), "x"), {}), Answered("run/nobody#1/1.0", {})):
            step = advance(self._program, state, event)
            if step != StepResult(state):
                raise UnsoundError(f"something comes after the end: {step}")


def problems(program: Program, state: State, turns: int) -> Iterator[str]:
    """Yield what does not hold of a state and has to."""
    plan = program.plan
    facts = plan.facts
    if LOST in state.reason:
        yield f"{state.reason}"
    if facts is not None and (state.executions > facts.executions or turns > facts.turns):
        yield f"{state.executions} executions and {turns} turns are more than {facts.executions} and {facts.turns}"
    if state.executions != sum(each.visits for each in state.past.values()):
        yield "executions are miscounted"
    if state.ended is not None:
        if state.active or state.pending or state.scopes or state.waiting:
            yield "something goes on after the end"
        return
    if not state.pending:
        yield "nobody is asked anything"
    yield from _misplaced(program, state)


def _misplaced(program: Program, state: State) -> Iterator[str]:
    plan = program.plan
    if len(state.active) > plan.limits.parallel:
        yield f"{len(state.active)} executions at once are more than {plan.limits.parallel}"
    asking = {key.rpartition("/")[0] for key in state.pending}
    if asking != set(state.active):
        yield f"{asking ^ set(state.active)} wait for nothing, or are not there"
    if state.waiting and len(state.active) < plan.limits.parallel:
        yield "somebody waits although there is room"
    standing: list[Execution | PendingNode] = [*state.active.values(), *state.waiting]
    for each in standing:
        if each.node not in plan.nodes:
            yield f"{each.node!r} is no node"
        if not _is_rooted(state, each.branch):
            yield f"{each.node} is in no scope"


def _is_rooted(state: State, branch: Branch) -> bool:
    while branch.scope is not None:
        if branch.scope not in state.scopes:
            return False
        branch = state.scopes[branch.scope].around
    return True
