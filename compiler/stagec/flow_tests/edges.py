"""Which edges the executions of a run take: noticed where the machine chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from stagec.core.value import replace
from stagec.plan.act import Delegate
from stagec.plan.document import Plan
from stagec.plan.node import Edge, Fork, Go, Named, Pick, Stop
from stagec.runtime import Move, Program

Taken = tuple[str, int, str]
"""An edge: its node, its number there, and the node that was chosen, empty where there is nothing to choose."""


_Log = list[tuple[str, int | None]]


class _WatchedEdges:
    """The edges of one node and one outcome with their numbers: they write down how far somebody looks at them."""

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
        return frozenset(name for target in targets if isinstance(target, Fork) for name in target.nodes)

    def take(self, moves: Iterable[Move]) -> list[tuple[Move, Taken | None]]:
        """Return the moves of a step with the edge that each has taken; those in the runs of agents are left out."""
        log, found = self._log.copy(), list[tuple[Move, Taken | None]]()
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
        """Return the edge that a branch of a fork has ended by, which ends whatever its first node has edges to."""
        if move.node not in self._beginning:
            return None
        edges = enumerate(self._plan.nodes[move.node].edges)
        return next((at for at, edge in edges if edge.on == move.outcome and isinstance(edge.target, Stop)), None)


def list_chosen(plan: Plan, edge: Edge) -> tuple[str, ...]:
    """Return the nodes that a target leads to only where an answer, or that another one cannot start, says so."""
    match edge.target:
        case Pick():
            return tuple(plan.choices[edge.target.choices].values())
        case Named():
            return tuple(edge.target.nodes.values())
        case Go():
            return () if edge.target.otherwise is None else (edge.target.otherwise,)
        case _:
            return ()
