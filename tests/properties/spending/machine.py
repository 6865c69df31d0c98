"""Runs of the machine in worlds that prolong or shorten them, with everything counted that is asked of the world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import replace, value
from stagec.ir.graph.usage import Quantity
from stagec.ir.plan.act import Converse
from stagec.ir.plan.node import Named
from stagec.runtime.machine import Answered, Program, Started, State, advance
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Effect,
    Execute,
    Preserve,
    Publish,
    Run,
    Shell,
    Turn,
    Wait,
    read_key,
)
from stagec.runtime.machine.program import find_program
from stagec.runtime.machine.state import find_asking

_UNUSABLE: Json = {"answer": 3}
CALLS = 2
"""Calls of tools in one response, at most."""
VALIDATOR = 1000


@value
class Walk:
    """A run until now, and how much it has taken; a world decides what comes next."""

    program: Program
    state: State
    spent: Mapping[Quantity, int]
    nodes: Mapping[str, int]

    @classmethod
    def begin(cls, program: Program) -> Walk:
        """Begin a run."""
        empty = cls(program, State(), {}, {})
        return empty._take(Started("run", "", {}))

    def answer(self, key: str, answer: Json) -> Walk:
        """Answer a request."""
        return self._take(Answered(key, answer))

    def _take(self, event: Any) -> Walk:
        step = advance(self.program, self.state, event)
        spent = Counter(self.spent)
        for effect in step.effects:
            spent.update(_count(effect))
        spent[Quantity.EXECUTIONS] = step.state.executions
        nodes = {name: past.visits for name, past in step.state.past.items() if past.visits}
        return replace(self, state=step.state, spent=spent, nodes=nodes)


def _count(effect: Effect) -> Iterator[Quantity]:
    """Yield what a request takes, once for each unit of it."""
    match effect:
        case Ask() | Turn():
            yield Quantity.TURNS
        case Call():
            yield Quantity.CALLS
        case Wait() | Run():
            yield from [Quantity.MILLISECONDS] * effect.milliseconds
        case Shell():
            yield from [Quantity.MILLISECONDS] * VALIDATOR
        case Execute():
            yield from [Quantity.MILLISECONDS] * effect.limits.kill


def list_answers(walk: Walk, effect: Effect, *, prolong: bool) -> list[Json]:
    """Return the answers that lead on in different ways, after everything was tried first that takes more."""
    match effect:
        case Ask():
            return [*_answer_step(walk.program, effect, prolong=prolong)]
        case Turn():
            return [*_take_turn(walk, effect, prolong=prolong)]
        case Run():
            return [{"exit": status, "stdout": "", "stderr": ""} for status in (0, 1)]
        case Shell():
            return [{"exit": status, "stdout": "", "stderr": ""} for status in ((1, 0) if prolong else (0,))]
        case Execute():
            failed = {"exit": 1, "outputs": {}}
            return [failed, {"exit": 0, "outputs": {}}] if prolong else [{"exit": 0, "outputs": {}}]
        case _:
            return [_PLAIN.get(type(effect), {})]


_PLAIN: Mapping[type[Effect], Json] = {
    Call: {"value": 1},
    Publish: {"checkpoint": None},
    Preserve: {"checkpoint": "c", "valid": True},
}
"""The answers of requests that are answered in one way."""


def _answer_step(program: Program, ask: Ask, *, prolong: bool) -> Iterator[Json]:
    key = read_key(ask.key)
    if prolong and key.attempt == 1:
        yield _UNUSABLE
        return
    own = find_program(program, ask.key)
    for outcome, edges in own.routes[key.node].items():
        for edge in edges:
            names = edge.target.nodes if isinstance(edge.target, Named) else (None,)
            for name in names:
                yield {"answer": {"do": outcome} | ({} if name is None else {"to": name})}
    if prolong:
        yield _UNUSABLE


def _take_turn(walk: Walk, turn: Turn, *, prolong: bool) -> Iterator[Json]:
    """Yield turns: with calls of tools until no other is left, then results with every verdict and way."""
    key = read_key(turn.key)
    execution: Any = find_asking(walk.state.active, turn.key)
    node = walk.program.plan.nodes[key.node]
    assert isinstance(node.act, Converse)
    attempts = 1 if node.retry is None else node.retry.attempts
    calls = [{"id": str(at), "tool": "t", "arguments": {}} for at in range(CALLS)]
    burn: Json = {"text": "", "calls": calls}
    is_last = execution.progress.turns == node.act.turns and execution.attempt == attempts
    if prolong and not is_last:
        yield burn
        return
    for verdict in ("ok", "fail"):
        for way in (*range(_count_ways(walk.program, key.node, verdict)), 9):
            handed = {"id": "1", "tool": "submit", "arguments": {"v": verdict, "way": way}}
            yield {"text": "", "calls": [handed]}
    if prolong:
        yield burn


def _count_ways(program: Program, node: str, outcome: str) -> int:
    return len(program.routes[node].get(outcome, ())) - 1
