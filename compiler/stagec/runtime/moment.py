"""One instant of a run while an event is worked off: the state as it was, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.node import Outcome
from stagec.runtime.effect import Call, Effect, execution_of
from stagec.runtime.program import Program
from stagec.runtime.state import Arrival, Execution, Past, Scope, State, Step, Told
from stagec.runtime.table import Table
from stagec.runtime.turns import compound, open_turns

_UNKNOWN = Past()


def _cause(error: Mapping[str, Json] | None) -> str:
    """Return why an execution that the end of the run finds going on is cancelled."""
    return "WorkflowExit" if error is None else str(error["code"])


class Moment:
    """Collects what an event changes; nothing of it is seen before `step` returns it as a whole.

    It has the fields of the state, as they are now.
    """

    def __init__(self, program: Program, state: State) -> None:
        self.program, self.nodes = program, program.plan.nodes
        self.state = state
        """The state as it was when the event came."""
        self.run, self.entry, self.inputs = state.run, state.entry, state.inputs
        self.executions, self.judged, self.said = state.executions, state.judged, state.said
        self.past: Table[Past] = state.past
        self.active: dict[str, Execution] = {**state.active}
        self.scopes: dict[str, Scope] = {**state.scopes}
        self.waiting: tuple[Arrival, ...] = state.waiting
        self.pending: dict[str, Effect] = {**state.pending}
        self.ended, self.reason, self.told = state.ended, state.reason, state.told
        self.acting: Execution | None = None
        """The execution that has acted last."""
        self._effects: dict[str, Effect] = {}
        self._void: list[str] = []
        self._told: list[Told] = []

    def past_of(self, node: str) -> Past:
        """Return what is remembered of a node."""
        return self.past.get(node, _UNKNOWN)

    def remember(self, node: str, **fields: object) -> None:
        """Change what is remembered of a node."""
        self.past = self.past.having(node, replace(self.past_of(node), **fields))

    def execution(self, key: str) -> Execution | None:
        """Return an execution that has not ended."""
        return self.active.get(key)

    def keep(self, execution: Execution) -> Execution:
        """Put an execution in place of what it was before."""
        self.active[execution.key] = self.acting = execution
        return execution

    def key_of(self, execution: Execution) -> str:
        """Return the key of the next request of an execution."""
        return f"{execution.key}/{execution.attempt}.{execution.asked}"

    def request(self, execution: Execution, kind: type, /, *given: Any, **named: Any) -> Execution:
        """Ask the world for something, in the name of an execution."""
        key = self.key_of(execution)
        self.pending[key] = self._effects[key] = kind(key, *given, **named)
        return self.keep(replace(execution, asked=execution.asked + 1))

    def settle(self, key: str) -> None:
        """Forget a request that was answered."""
        self.pending.pop(key, None)

    def leave(self, executions: Iterable[str]) -> None:
        """Forget executions that are over, and void what they still ask for."""
        over = frozenset(executions)
        for key in over:
            self.active.pop(key, None)
        for key in [key for key in self.pending if execution_of(key) in over] if self.pending else ():
            self.pending.pop(key)
            if self._effects.pop(key, None) is None:
                self._void.append(key)

    def cancel(self, executions: Iterable[Execution], cause: str) -> None:
        """Break executions off, in the order in which they began; nothing in them is cleaned up."""
        over = tuple(executions)
        for execution in over:
            for effect in self.pending.values():
                if type(effect) is Call and execution_of(effect.key) == execution.key:
                    self.tell("ToolInvocationCancelled", execution, tool=effect.tool, proposalId=effect.id)
            self.tell("StageCancelled", execution, cause=cause)
        self.leave([each.key for each in over])

    def tell(self, name: str, execution: Execution | None = None, /, **facts: Json) -> None:
        """Say that something has happened, in an execution or in the run as a whole."""
        self.told += 1
        told: dict[str, Json] = {"seq": self.told, "workflowRunId": self.run}
        if execution is not None:
            told["stageId"], told["stageExecutionId"], told["attempt"] = (
                execution.node,
                execution.key,
                execution.attempt,
            )
            turn = compound(self.scopes, execution)
            if turn is not None:
                told["compoundTurnId"] = turn
        told |= facts
        self._told.append(Told(name, told))

    def end(self, outcome: Outcome, reason: str, error: Mapping[str, Json] | None = None) -> None:
        """End the run, and everything that is going on in it.

        The execution that acts ends it and is not cancelled by it. `error` is what the documents call the failure.
        """
        if self.ended is not None:
            return
        going, acting = tuple(self.active.values()), self.acting
        last = acting or next(reversed(going), None)
        turns = open_turns(self.scopes, going)
        self.cancel([each for each in going if acting is None or each.key != acting.key], _cause(error))
        self.leave([each.key for each in going])
        self.ended, self.reason, self.scopes, self.waiting = outcome, reason, {}, ()
        for turn in turns:
            self.tell("SessionTurnEnd", turnId=turn)
        why: Mapping[str, Json] = {} if error is None else {"error": error}
        where = None if last is None else last.node
        self.tell("WorkflowExit", status=outcome.value, lastStage=where, reason=reason, **why)

    def step(self) -> Step:
        """Return everything that has followed from the event."""
        state = State(
            self.run,
            self.entry,
            self.inputs,
            self.executions,
            self.past,
            self.judged,
            self.said,
            self.active,
            self.scopes,
            self.waiting,
            self.pending,
            self.ended,
            self.reason,
            self.told,
        )
        return Step(state, tuple(self._effects.values()), tuple(self._void), tuple(self._told))
