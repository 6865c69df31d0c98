"""Collects what one event changes: the state, the requests to the world, and the trace events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.node import Outcome
from stagec.ir.protocol.lifecycle import StageEvent, StageStatus, follow_event
from stagec.runtime.machine.exchange import (
    Call,
    Effect,
    Event,
    Wait,
    deadline_key,
    execution_of,
    request_key,
    run_deadline_key,
    visit_of,
)
from stagec.runtime.machine.execution import AgentRun, Branch, Execution, failure_in
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_failure, failure_to_json
from stagec.runtime.machine.program import Program
from stagec.runtime.machine.state import (
    Move,
    NodeHistory,
    PendingNode,
    Queue,
    Scope,
    State,
    StepResult,
    TraceEvent,
    find_asking,
    has_asked,
)

Scopes = Mapping[str, Scope]


def compound_turn_of(scopes: Scopes, execution: Execution) -> str | None:
    """Return the compound turn that an execution belongs to, as a branch of its fork or as its join; None for none."""
    fork = execution.joins
    if fork is None and execution.branch.scope is not None:
        fork = _fork(scopes, execution.branch)
    return None if fork is None else fork_turn(fork)


def fork_turn(fork: str) -> str:
    """Return the id of the compound turn of a fork, which is named after the execution that led to it."""
    return f"{fork}/fork"


def is_outside(scopes: Scopes, branch: Branch) -> bool:
    """Tell whether a branch is in no fork, so that what begins there begins a session turn."""
    return _fork(scopes, branch) is None


def session_turn_of(scopes: Scopes, execution: Execution) -> str:
    """Return the session turn that an execution is in: the outermost compound turn, or one of its own."""
    fork = execution.joins
    if execution.branch.scope is not None:
        for name in _forks(scopes, execution.branch):
            fork = name
    return execution.key if fork is None else fork_turn(fork)


def open_turns(scopes: Scopes, active: Iterable[Execution]) -> list[str]:
    """Return the session turns that have begun and not ended, in the order in which they began."""
    forks = [name for name, scope in scopes.items() if scope.is_fork and is_outside(scopes, scope.around)]
    return list(dict.fromkeys((*map(fork_turn, forks), *(session_turn_of(scopes, each) for each in active))))


def _fork(scopes: Scopes, branch: Branch) -> str | None:
    return next(_forks(scopes, branch), None)


def _forks(scopes: Scopes, branch: Branch) -> Iterator[str]:
    """Yield the forks around a branch, the innermost first."""
    while branch.scope is not None:
        scope = scopes[branch.scope]
        if scope.is_fork:
            yield branch.scope
        branch = scope.around


def error(name: str, /, **about: Json) -> Mapping[str, Json]:
    """Return a failure, `Class/Code`, with what the documents say of it, as events and models are told of it."""
    kind, _, code = name.partition("/")
    return {"class": kind, "code": code, **about}


def code_of(name: str) -> str:
    """Return the code of a failure, `Class/Code`."""
    return name.rpartition("/")[2]


Machine = Callable[[Program, State, Event], StepResult]
"""The function that runs the plan of an agent: the machine itself."""
_UNKNOWN = NodeHistory()
_CANCELLED = "cancelled"


class StepBuilder:
    """Collects what one event changes; nothing of it is visible before `step` returns it as a whole.

    `before` is the state as it was when the event came, `now` the state as it is becoming: read it freely, change it
    with the methods alone.
    """

    def __init__(self, program: Program, state: State, machine: Machine) -> None:
        self.machine = machine
        self.program, self.nodes = program, program.plan.nodes
        self.before = state
        now: Any = SimpleNamespace(**{name: getattr(state, name) for name in State.__match_args__})
        self.now: State = now
        self._now: Any = now  # the same, to set single fields of it
        self._active: dict[str, Execution] = {**state.active}
        self._scopes: dict[str, Scope] = {**state.scopes}
        self._pending: dict[str, Effect] = {**state.pending}
        self.change(active=self._active, scopes=self._scopes, pending=self._pending)
        self.acting: Execution | None = None
        """The execution that has acted last."""
        self._effects: dict[str, Effect] = {}
        self._void: list[str] = []
        self._trace: list[TraceEvent] = []
        self._moves: list[_OpenMove] = []
        self._inner: list[Move] = []
        self._is_moving = False
        self._statuses: dict[str, StageStatus] = {}
        self.last: Json = None
        """The result of the last execution that led anywhere."""

    def change(self, **fields: object) -> None:
        """Set fields of the state."""
        for name, given in fields.items():
            setattr(self._now, name, given)

    def judge(self, schema: str | None, given: Json) -> str | None:
        """Return the mistake in a value by a schema, in the words of the machine with which the run began."""
        return self.program.answer_schemas.complaint(schema, given, self.now.machine)

    def history_of(self, node: str) -> NodeHistory:
        """Return the history of a node."""
        return self.now.past.get(node, _UNKNOWN)

    def remember(self, node: str, **fields: object) -> None:
        """Change what is remembered of a node."""
        self._now.past = self.now.past.having(node, replace(self.history_of(node), **fields))

    def execution(self, key: str) -> Execution | None:
        """Return an execution that has not ended."""
        return self._active.get(key)

    def find_asking(self, key: str) -> Execution | None:
        """Return the execution that has made a request: its own, or one in the run of its agent."""
        return find_asking(self._active, key)

    def keep(self, execution: Execution) -> Execution:
        """Put an execution in place of what it was before."""
        self._active[execution.key] = self.acting = execution
        return execution

    def put_scope(self, name: str, scope: Scope) -> None:
        """Open a scope, or put it in place of what it was before."""
        self._scopes[name] = scope

    def drop_scopes(self, names: Iterable[str]) -> None:
        """Forget scopes that are over."""
        for name in names:
            self._scopes.pop(name, None)

    def key_of(self, execution: Execution) -> str:
        """Return the key of the next request of an execution."""
        return request_key(execution.key, execution.attempt, execution.asked)

    def request(self, execution: Execution, kind: type, /, *given: Any, **named: Any) -> Execution:
        """Ask the world for something, in the name of an execution."""
        key = self.key_of(execution)
        self._pending[key] = self._effects[key] = kind(key, *given, **named)
        return self.keep(replace(execution, asked=execution.asked + 1))

    def set_deadline(self, execution: Execution, milliseconds: int) -> None:
        """Let the time of an execution pass beside all that it asks for; nothing where there is no deadline."""
        if milliseconds:
            key = deadline_key(execution.key)
            self._pending[key] = self._effects[key] = Wait(key, milliseconds)

    def end_deadline(self, execution: Execution) -> None:
        """Void the deadline of an execution, whose result is there."""
        self._avoid(deadline_key(execution.key))

    def set_run_deadline(self) -> None:
        """Let the time of the run pass, unless it does already; nothing where there is no deadline."""
        key, milliseconds = run_deadline_key(self.now.run), self.program.plan.limits.deadline
        if milliseconds and key not in self._pending:
            self._pending[key] = self._effects[key] = Wait(key, milliseconds)

    def settle(self, key: str) -> None:
        """Forget a request that was answered."""
        self._pending.pop(key, None)

    def leave(self, executions: Iterable[str]) -> None:
        """Forget executions that are over, and void what they still ask for."""
        over = frozenset(executions)
        ended = [each for key in over if (each := self._active.pop(key, None)) is not None]
        agents = [each for each in ended if isinstance(each.progress, AgentRun)]
        asked = [key for key in self._pending if execution_of(key) in over] if self._pending else []
        asked += [key for each in agents for key in self._pending if has_asked(each, key)]
        for key in asked:
            self._avoid(key)

    def break_off(self, execution: Execution) -> None:
        """Void everything that an execution asks for."""
        self._emit_cancelled_calls(execution)
        for key in [key for key in self._pending if execution_of(key) == execution.key]:
            self._avoid(key)

    def _emit_cancelled_calls(self, execution: Execution) -> None:
        for effect in self._pending.values():
            if type(effect) is Call and execution_of(effect.key) == execution.key:
                self.emit("ToolInvocationCancelled", execution, tool=effect.tool, proposalId=effect.id)

    def _avoid(self, key: str) -> None:
        """Let nobody answer a request any more."""
        if self._pending.pop(key, None) is not None and self._effects.pop(key, None) is None:
            self._void.append(key)

    def take(self, execution: Execution, step: StepResult) -> Execution:
        """Take a step of an agent's run, as part of the execution that runs it."""
        for key in step.void:
            self._avoid(key)
        for effect in step.effects:
            self._pending[effect.key] = self._effects[effect.key] = effect
        for each in step.trace:
            self._now.traced += 1
            self._trace.append(TraceEvent(each.name, {**each.facts, "seq": self.now.traced}))
        self._inner.extend(replace(each, run=step.state.run) for each in step.moves)
        return self.keep(replace(execution, progress=AgentRun(step.state, step.last)))

    def begin_move(self, execution: Execution, outcome: str) -> None:
        """Record that an execution is over; the nodes named to `lead_to` from now on follow it."""
        self._moves.append((execution, outcome, []))
        self._is_moving = True

    def lead_to(self, nodes: Iterable[str]) -> None:
        """Record where the last move leads."""
        if self._is_moving:
            self._moves[-1][2].extend(nodes)

    def end_move(self) -> None:
        """Let the nodes that begin from now on follow no move: they waited for a free place."""
        self.acting, self._is_moving = None, False

    def cancel(self, executions: Iterable[Execution], cause: str) -> None:
        """Break executions off, in the order in which they began; nothing in them is cleaned up."""
        over = tuple(executions)
        for execution in over:
            self._emit_cancelled_calls(execution)
            self.emit("StageCancelled", execution, cause=cause)
            self._moves.append((execution, _CANCELLED, []))
        self.leave([each.key for each in over])

    def emit(self, name: str, execution: Execution | None = None, /, **facts: Json) -> None:
        """Add a trace event about an execution, or about the run as a whole."""
        number = self._now.traced = self.now.traced + 1
        event: dict[str, Json] = {"seq": number, "workflowRunId": self.now.run}
        if execution is not None:
            event["stageId"], event["stageExecutionId"] = execution.node, execution.key
            event["attempt"] = execution.attempt
            turn = compound_turn_of(self._scopes, execution)
            if turn is not None:
                event["compoundTurnId"] = turn
        event |= facts
        self._trace.append(TraceEvent(name, event))

    def status_of(self, node: str) -> StageStatus | None:
        """Return the status of a stage; nothing of a node that is no process of this run."""
        known = self._statuses.get(node)
        return self.before.statuses.get(node) if known is None else known

    def set_statuses(self, statuses: Mapping[str, StageStatus]) -> None:
        """Replace all statuses with these."""
        self._statuses = {**statuses}

    def change_status(self, node: str, event: StageEvent, execution: Execution | None = None, /, **facts: Json) -> None:
        """Let an event happen to a stage; its status must allow it."""
        before = self.status_of(node) or StageStatus.PENDING
        self._statuses[node] = after = follow_event(before, event)
        named: Mapping[str, Json] = {"stageId": node} if execution is None else {}
        change: Mapping[str, Json] = {"from": before.value, "to": after.value, "on": event.value}
        self.emit("StageStatusChanged", execution, **named, **change, **facts)

    def restart(self) -> None:
        """Forget what was going on, how the run ended, and how many executions it has had; what was asked is void."""
        self.leave(tuple(self._active))
        self.drop_scopes(tuple(self._scopes))
        forgotten = State()
        for name in ("executions", "waiting", "ended", "reason", "failure", "cancelled"):
            self.change(**{name: getattr(forgotten, name)})

    def complete(self, reason: str) -> None:
        """End the run as done."""
        if self.now.ended is None:
            self._end(Outcome.DONE, reason)

    def fail(
        self,
        kind: FailureKind,
        detail: str = "",
        execution: Execution | None = None,
        error: Mapping[str, Json] | None = None,
    ) -> None:
        """End the run as failed, because of an execution if one is to blame."""
        failure = RunFailure(kind, detail)
        self.give_up(failure if execution is None else failure_in(execution, failure), error)

    def give_up(
        self, failure: RunFailure, error: Mapping[str, Json] | None = None, outcome: Outcome = Outcome.FAILED
    ) -> None:
        """End the run otherwise than as done; `error` is what the documents call the failure."""
        if self.now.ended is None:
            self.change(failure=failure)
            self._end(outcome, describe_failure(failure), error)

    def stop(self, failure: RunFailure) -> None:
        """End the run because somebody wants it, or because its time is over."""
        code = "DeadlineExceeded" if failure.kind is FailureKind.RUN_DEADLINE else "TurnCancelled"
        self.give_up(failure, error(f"Cancellation/{code}"))

    def _end(self, outcome: Outcome, reason: str, error: Mapping[str, Json] | None = None) -> None:
        """End the run, and everything that is going on in it.

        The execution that acts ends it and is not cancelled by it.
        """
        going, acting = tuple(self._active.values()), self.acting
        last = acting or next(reversed(going), None)
        if acting is not None and acting.key in self._active:
            self.begin_move(acting, "")
        turns = open_turns(self._scopes, going)
        cause = "WorkflowExit" if error is None else str(error["code"])
        self.cancel([each for each in going if acting is None or each.key != acting.key], cause)
        self.leave([each.key for each in going])
        self._avoid(run_deadline_key(self.now.run))
        self.drop_scopes(tuple(self._scopes))
        self.change(ended=outcome, reason=reason, waiting=Queue())
        for turn in turns:
            self.emit("SessionTurnEnd", turnId=turn)
        why: Mapping[str, Json] = {} if error is None else {"error": error}
        where = None if last is None else last.node
        if self.now.failure is not None:
            why = {**why, "failure": failure_to_json(self.now.failure)}
        self.emit("WorkflowExit", status=outcome.value, lastStage=where, reason=reason, **why)

    def step(self) -> StepResult:
        """Return everything that followed from the event; the builder is used up."""
        if self._statuses:
            self.change(statuses=self.before.statuses.having_all(self._statuses))
        state = State(**vars(self._now))
        moves = tuple(_close(state, each) for each in self._moves) if self._moves else ()
        moves = (*self._inner, *moves) if self._inner else moves
        return StepResult(state, tuple(self._effects.values()), tuple(self._void), tuple(self._trace), moves, self.last)


_OpenMove = tuple[Execution, str, list[str]]
"""An execution that is over, its outcome, and the nodes that it led to so far."""


_MOST = 16
"""Nodes that wait for room, as many as a move names: whoever reads it needs no more."""


def _close(state: State, move: _OpenMove) -> Move:
    execution, outcome, to = move
    if outcome == _CANCELLED:
        return Move(execution.node, visit_of(execution.key), outcome)
    if to:
        return Move(execution.node, visit_of(execution.key), outcome, tuple(to))
    end = "" if state.ended is None else str(state.ended)
    others: tuple[Execution | PendingNode, ...] = () if end else (*state.active.values(), *islice(state.waiting, _MOST))
    awaited = tuple(dict.fromkeys(each.node for each in others))
    return Move(execution.node, visit_of(execution.key), outcome, (), end, awaited)
