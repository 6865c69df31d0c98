"""Steps of the machine in tests of flows, with the edges that they take; runs with the same beginning share them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from stagec.core.canonical import text_of
from stagec.core.json import Json
from stagec.core.value import replace, value
from stagec.ir.plan.act import Delegate
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Edge, ForEach, Fork, Go, Named, Pick, Stop
from stagec.runtime.machine import Answered, Effect, Event, Move, Program, Started, State, StepResult, advance

Taken = tuple[str, int, str]
"""An edge: its node, its number there, and the node that was chosen, empty where there is nothing to choose."""


_Log = list[tuple[str, int | None]]


class _WatchedEdges:
    """The edges of one node and one outcome with their numbers; they record how many of them were read."""

    def __init__(self, name: str, edges: Mapping[int, Edge], log: _Log) -> None:
        self._name, self._edges, self._log = name, edges, log

    def __iter__(self) -> Iterator[Edge]:
        self._log.append((self._name, None))
        for number, edge in self._edges.items():
            self._log[-1] = (self._name, number)
            yield edge
        self._log[-1] = (self._name, None)  # none of them was chosen


class _WatchedRoutes(dict[str, Mapping[str, Any]]):
    """The watched edges of nodes by outcome, made when a run comes to a node: most runs come to few."""

    def __init__(self, program: Program, log: _Log) -> None:
        super().__init__()
        self._program, self._log = program, log

    def __missing__(self, name: str) -> Mapping[str, Any]:
        self[name] = {outcome: self._watch(name, outcome) for outcome in self._program.routes[name]}
        return self[name]

    def _watch(self, name: str, outcome: str) -> _WatchedEdges:
        numbers = (at for at, edge in enumerate(self._program.plan.nodes[name].edges) if edge.on == outcome)
        edges = self._program.routes[name][outcome]
        return _WatchedEdges(name, dict(zip(numbers, edges, strict=True)), self._log)


class EdgeWatch:
    """A program of one run, and which edges are taken in it; `program` is the one to run."""

    def __init__(self, program: Program) -> None:
        self._plan = program.plan
        self._log: _Log = []
        self.program = replace(program, routes=_WatchedRoutes(program, self._log))

    @cached_property
    def _beginning(self) -> frozenset[str]:
        """The nodes with which branches of forks begin."""
        targets = (edge.target for node in self._plan.nodes.values() for edge in node.edges)
        return frozenset(name for target in targets if isinstance(target, Fork | ForEach) for name in target.nodes)

    def take(self, moves: Iterable[Move]) -> list[tuple[Move, Taken | None]]:
        """Return the moves of a step with the edge that each has taken; those in the runs of agents are left out."""
        found = list[tuple[Move, Taken | None]]()
        log = self._log.copy() if self._log else []
        self._log.clear()
        for move in moves:
            if move.run:
                continue
            number = log.pop(0)[1] if log and log[0][0] == move.node else self._find_end(move)
            if isinstance(self._plan.nodes[move.node].act, Delegate):  # which looks where its outcome leads before
                number = log.pop(0)[1] if log and log[0][0] == move.node else number
            found.append((move, None if number is None else (move.node, number, self._find_chosen(move, number))))
        return found

    def _find_chosen(self, move: Move, number: int) -> str:
        led = move.to[0] if move.to else ""
        return led if led in list_chosen(self._plan, self._plan.nodes[move.node].edges[number]) else ""

    def _find_end(self, move: Move) -> int | None:
        """Return the edge by which a branch of a fork has ended; a branch ends after its first node."""
        if move.node not in self._beginning:
            return None
        edges = enumerate(self._plan.nodes[move.node].edges)
        return next((at for at, edge in edges if edge.on == move.outcome and isinstance(edge.target, Stop)), None)


def list_chosen(plan: Plan, edge: Edge) -> tuple[str, ...]:
    """Return the nodes of a target that run only if an answer, or a failed start of another node, says so."""
    match edge.target:
        case Pick():
            return tuple(plan.choices[edge.target.choices].values())
        case Named():
            return tuple(edge.target.nodes.values())
        case Go():
            return () if edge.target.otherwise is None else (edge.target.otherwise,)
        case _:
            return ()


Judged = tuple[str, str, str]
"""A judgement or a refusal: the node, the verdict or `refused`, and the reason."""


def list_judged(step: StepResult) -> Iterator[Judged]:
    """Yield the judgements and refusals in a step, the latter with the pattern of their failure as the reason."""
    for event in step.trace:
        name, facts = event.name, event.facts
        if name == "StageAssertOutcome" and "verdict" in facts:
            yield str(facts.get("stageId")), str(facts["verdict"]), str(facts["reason"])
        elif name == "ValidationFailed":
            yield str(facts.get("stageId")), "refused", str(facts["pattern"])


@value
class WatchedStep:
    """A step: the state after it, its requests, the last result, its judgements, and its moves with their edges."""

    state: State
    effects: tuple[Effect, ...]
    last: Json
    judged: tuple[Judged, ...]
    moves: tuple[tuple[Move, Taken | None], ...]


class WatchedSteps:
    """Makes the steps of runs of one program, each once while there is room to keep it.

    The machine is a function: a step that follows from the same state and the same event need not be made again. The
    room is counted in what is under way after a step.
    """

    def __init__(self, program: Program, room: int = 0) -> None:
        self._watch = EdgeWatch(program)
        self._room = room
        self._known: dict[tuple[object, ...], tuple[State, WatchedStep]] = {}

    def advance(self, state: State, event: Event) -> WatchedStep:
        """Return the step that follows from an event."""
        key = _identify(state, event) if self._room > 0 or self._known else None
        if key is None:
            return self._make(state, event)
        if key not in self._known:
            step = self._make(state, event)
            if self._room <= 0:
                return step
            self._room -= 1 + len(step.state.active) + len(step.state.waiting)
            self._known[key] = state, step  # which keeps the state, so that no other has its id
        return self._known[key][1]

    def _make(self, state: State, event: Event) -> WatchedStep:
        step = advance(self._watch.program, state, event)
        moves = tuple(self._watch.take(step.moves))
        return WatchedStep(step.state, step.effects, step.last, tuple(list_judged(step)), moves)


def _identify(state: State, event: Event) -> tuple[object, ...] | None:
    """Return the identity of a state and an event; None for rare events."""
    if type(event) is Answered:
        return id(state), event.key, text_of(event.answer)
    if type(event) is Started and not state.run:
        return event.run, event.entry, text_of({**event.inputs}), event.machine
    return None
