"""Run an agent as a run of its own, and write the transition that follows down (§ 3.18 of the format)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.json import Json, object_of, text_in
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.plan.act import Delegate
from stagec.ir.plan.agents import SUCCESS, TRANSFORMER
from stagec.ir.plan.document import Phases
from stagec.ir.plan.gate import AgentGate, RestGate
from stagec.ir.plan.node import Go, Outcome, Stop
from stagec.runtime.machine.exchange import (
    AgentRunName,
    Answered,
    Close,
    Comment,
    Dispatch,
    Effect,
    Relabel,
    Started,
    Wait,
)
from stagec.runtime.machine.execution import AgentRun, Execution, NodeResult, PendingTransition, failure_in
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_error, describe_failure
from stagec.runtime.machine.program import choose
from stagec.runtime.machine.state import IssueStatus, State
from stagec.runtime.machine.step_builder import StepBuilder

_NOTHING: tuple[NodeResult, ...] = ()
_FAILED = "failed"
_ANSWER = "answer"


def find_exceeded(builder: StepBuilder) -> tuple[FailureKind, str] | None:
    """Return the bound that keeps a run of phases from running another agent, and how large it is."""
    phases, issue = _phases_of(builder), _issue_of(builder)
    if phases.row and issue.row >= phases.row:
        return FailureKind.REPETITION, f"{quote(issue.phase)}, and the limit is {phases.row:,}"
    if issue.transitions >= phases.most:
        return FailureKind.CYCLES, f"the limit is {phases.most:,}"
    return None


def begin(builder: StepBuilder, act: Delegate, execution: Execution) -> tuple[NodeResult, ...]:
    """Ask whether somebody else runs the agent."""
    known = builder.program.agents[act.agent].plan.inputs
    inputs = {name: each for name, each in builder.now.inputs.items() if name in known}
    same = (
        name for name, node in builder.nodes.items() if isinstance(node.act, Delegate) and node.act.agent == act.agent
    )
    number = sum(builder.history_of(each).visits for each in same)
    run = str(AgentRunName(builder.now.run, act.agent, number))
    builder.request(execution, Dispatch, agent=act.agent, run=run, inputs=inputs)
    return _NOTHING


def rest(builder: StepBuilder, execution: Execution) -> tuple[NodeResult, ...]:
    """End the run."""
    node = builder.nodes[execution.node]
    blocks = any(each.target == Stop(Outcome.BLOCKED) for each in node.edges)
    failure = RunFailure(FailureKind.PHASE_BLOCKED) if blocks else None
    outcome = node.gate.outcome if isinstance(node.gate, RestGate) else ""
    return (NodeResult(execution, outcome, {_ANSWER: {}}, failure=failure),)


def resume(
    builder: StepBuilder, act: Delegate, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Go on with the run of the agent, or with what is written down after it."""
    if isinstance(execution.progress, AgentRun):
        step = builder.machine(
            builder.program.agents[act.agent], execution.progress.state, Answered(effect.key, answer)
        )
        return _go_on(builder, act, builder.take(execution, step))
    if isinstance(execution.progress, PendingTransition):
        return _write(builder, execution, effect, answer)
    return _dispatch(builder, act, execution, effect, object_of(answer))


def _dispatch(
    builder: StepBuilder, act: Delegate, execution: Execution, effect: Effect, given: Mapping[str, Json]
) -> tuple[NodeResult, ...]:
    """Run the agent, unless somebody has run it elsewhere."""
    why = given.get(_FAILED)
    if why is not None and why is not False:
        return _conclude(builder, act, execution, _Ending(_FAILED, given, "" if why is True else describe_error(why)))
    if isinstance(given.get(_ANSWER), dict):
        return _conclude(builder, act, execution, _Ending(SUCCESS, given))
    if not isinstance(effect, Dispatch):
        return _NOTHING
    builder.emit("AgentStarted", execution, agent=act.agent, run=effect.run)
    step = builder.machine(
        builder.program.agents[act.agent], State(), Started(effect.run, None, effect.inputs, builder.now.machine)
    )
    return _go_on(builder, act, builder.take(execution, step))


@value
class _Ending:
    """The end of the run of an agent: `success` or `failed`, the last result in it, and the reason of a failure."""

    status: str
    last: Mapping[str, Json]
    why: str = ""

    def find_outcome(self, gate: AgentGate) -> str | None:
        """Return the outcome of the agent; None if it has given no verdict."""
        if gate.role != TRANSFORMER:
            return self._verdict if self.status == SUCCESS else None
        tells = self.status == _FAILED and gate.verdicts  # a success stays one, whatever the verdict
        return (self._verdict if tells else None) or self.status

    @property
    def _verdict(self) -> str | None:
        return text_in(object_of(self.last.get(_ANSWER)), "verdict")


def _go_on(builder: StepBuilder, act: Delegate, execution: Execution) -> tuple[NodeResult, ...]:
    """Conclude when the run of the agent has ended."""
    run = execution.progress
    if not isinstance(run, AgentRun) or run.state.ended is None:
        return _NOTHING
    failure: RunFailure | None = run.state.failure
    if failure is not None and failure.kind is FailureKind.UNFIT_START:
        unfit = RunFailure(FailureKind.AGENT_UNFIT, failure.detail)
        builder.give_up(failure_in(execution, unfit), outcome=Outcome.BLOCKED)
        return _NOTHING
    status = SUCCESS if run.state.ended is Outcome.DONE else _FAILED
    why = "" if failure is None else describe_failure(failure)
    return _conclude(builder, act, execution, _Ending(status, object_of(run.last), why))


def _conclude(builder: StepBuilder, act: Delegate, execution: Execution, ending: _Ending) -> tuple[NodeResult, ...]:
    """Find where the outcome leads, and begin to write that down."""
    gate = builder.nodes[execution.node].gate
    if not isinstance(gate, AgentGate):
        return _NOTHING
    said = ending.find_outcome(gate)
    facts: Mapping[str, Json] = {"agent": act.agent, "status": ending.status, "outcome": said, "reason": ending.why}
    builder.emit("AgentEnded", execution, **facts)
    answer = object_of(ending.last.get(_ANSWER))
    handoff = object_of(ending.last.get("handoff")) or answer  # what is kept of a node without any is its answer
    builder.remember(execution.node, record=handoff)
    routed = said if said is not None and said in gate.outcomes else gate.otherwise
    result: Mapping[str, Json] = {_ANSWER: answer, "handoff": handoff, "outcome": said or gate.otherwise}
    over = NodeResult(execution, routed, result)
    target = choose(builder.program.routes[execution.node].get(routed, ()), result)
    if not isinstance(target, Go):
        told = f"the outcome {quote(said)}" if said is not None else "a missing verdict"
        why = f"{told} of {quote(act.agent)}{f'; {ending.why}' if ending.why else ''}"
        return (replace(over, failure=RunFailure(FailureKind.UNROUTED, why)),)
    todo = tuple(_list_writes(builder, act, target.node, over))
    return _ask_next(builder, execution, PendingTransition(over, target.node, todo))


def _list_writes(builder: StepBuilder, act: Delegate, phase: str, over: NodeResult) -> Iterator[_Write]:
    """Yield the notes to write down, in this order."""
    phases, result = _phases_of(builder), object_of(over.result)
    said = str(result["outcome"])
    completes = any(each.target == Stop(Outcome.DONE) for each in builder.nodes[phase].edges)
    add = phases.labels.get(phase, ())[:1]
    known = dict.fromkeys(label for labels in phases.labels.values() for label in labels)
    others = (*known, *phases.ordering) if completes else tuple(known)
    yield Relabel, {"phase": phase, "add": add, "remove": tuple(each for each in others if each not in add)}
    comment = act.comments.get(said)
    if comment is not None:
        yield Comment, {"text": builder.program.renderer.render(comment, result, _LENIENT)}
    if act.closes and completes and act.condition in {None, said}:
        yield Close, {}
    if phases.pause and isinstance(builder.nodes[phase].act, Delegate):
        yield Wait, {"milliseconds": phases.pause}


_Write = tuple[type, Mapping[str, Any]]
_LENIENT = frozenset({_ANSWER, "handoff"})


def _ask_next(builder: StepBuilder, execution: Execution, pending: PendingTransition) -> tuple[NodeResult, ...]:
    """Ask for what is written down next; return the execution when that is all."""
    if not pending.todo:
        issue = _issue_of(builder)
        row = issue.row + 1 if issue.phase == pending.phase else 1
        builder.change(issue=replace(issue, transitions=issue.transitions + 1, phase=pending.phase, row=row))
        return (pending.result,)
    (kind, given), *others = pending.todo
    waiting = replace(execution, progress=replace(pending, todo=tuple(others)))
    builder.request(waiting, kind, **given)
    return _NOTHING


def _write(builder: StepBuilder, execution: Execution, effect: Effect, answer: Json) -> tuple[NodeResult, ...]:
    """Take the result of a note; an issue that cannot be closed stays open."""
    pending, error = execution.progress, object_of(answer).get("error")
    if not isinstance(pending, PendingTransition):
        return _NOTHING
    if error is None:
        _note(builder, effect)
    elif isinstance(effect, Close):
        text = f"The issue could not be closed: {describe_error(error)}"
        pending = replace(pending, todo=((Comment, {"text": text}), *pending.todo))
    elif isinstance(effect, Relabel | Comment):
        failure = failure_in(execution, RunFailure(FailureKind.ISSUE, describe_error(error)))
        builder.give_up(failure, outcome=Outcome.BLOCKED)
        return _NOTHING
    return _ask_next(builder, execution, pending)


def _note(builder: StepBuilder, effect: Effect) -> None:
    """Remember what is known of the issue now."""
    issue = _issue_of(builder)
    if isinstance(effect, Relabel):
        kept = (each for each in issue.labels if each not in effect.remove)
        builder.change(issue=replace(issue, labels=tuple(dict.fromkeys((*kept, *effect.add)))))
    elif isinstance(effect, Close):
        builder.change(issue=replace(issue, is_closed=True))


def _phases_of(builder: StepBuilder) -> Phases:
    return builder.program.plan.phases or Phases(1)


def _issue_of(builder: StepBuilder) -> IssueStatus:
    return builder.now.issue or IssueStatus()
