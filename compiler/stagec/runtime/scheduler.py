"""Move from node to node: where executions begin, and where their outcomes lead (§§ 3.2, 3.8 and 3.9 of the format)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from stagec.core.words import format_count
from stagec.plan.act import Converse, Delegate, Prompt
from stagec.plan.node import Chain, Fork, Go, Outcome, Schedule, Stop, Target
from stagec.runtime.acts import begin_act
from stagec.runtime.acts.agent import find_exceeded
from stagec.runtime.acts.variables import UnstartableError, render_prompt
from stagec.runtime.exchange import execution_key
from stagec.runtime.execution import Branch, Execution, NodeResult, failure_in
from stagec.runtime.failures import FailureKind, RunFailure
from stagec.runtime.program import choose
from stagec.runtime.schedules import open_schedule
from stagec.runtime.scopes import describe_dead_end, describe_outcome, end_branch, open_scope
from stagec.runtime.session_turns import fork_turn, is_outside, session_turn_of
from stagec.runtime.state import PendingNode, Scope
from stagec.runtime.step_builder import StepBuilder, error

_NOTHING: tuple[NodeResult, ...] = ()
_FAIL, _REPEAT = "fail", "repeat"


def move(builder: StepBuilder, over: Iterable[NodeResult]) -> None:
    """Follow the outcomes of executions that are over until the run waits for the world, or has ended."""
    todo = deque(over)
    while builder.now.ended is None:
        if todo:
            todo.extend(_follow(builder, todo.popleft()))
        elif not builder.now.waiting or (pending := _admit_next(builder)) is None:
            return
        else:
            builder.end_move()
            todo.extend(begin(builder, pending))


def begin(builder: StepBuilder, pending: PendingNode) -> tuple[NodeResult, ...]:
    """Begin an execution, and return it if it is over at once."""
    limits, count = builder.program.plan.limits, builder.now.executions
    if limits.executions is not None and count >= limits.executions:
        if limits.reached is Outcome.DONE:
            builder.complete("bound reached")
        else:
            detail = f"the limit is {limits.executions:,}"
            builder.give_up(_failure_before(builder, pending, FailureKind.BOUND, detail))
        return _NOTHING
    act, prompt = builder.nodes[pending.node].act, pending.prompt
    exceeded = find_exceeded(builder) if isinstance(act, Delegate) else None
    if exceeded is not None:
        builder.give_up(_failure_before(builder, pending, *exceeded))
        return _NOTHING
    if prompt is None and isinstance(act, Prompt):
        try:
            prompt = render_prompt(builder, act, builder.history_of(pending.node).repeats)
        except UnstartableError as error:
            return _begin_fallback(builder, pending, str(error))
    return begin_act(builder, act, _enter(builder, pending, prompt))


def _failure_before(builder: StepBuilder, pending: PendingNode, kind: FailureKind, detail: str) -> RunFailure:
    """Return the failure that a node has before it has begun."""
    return RunFailure(kind, detail, pending.node, builder.history_of(pending.node).visits + 1)


def _enter(builder: StepBuilder, pending: PendingNode, prompt: str | None) -> Execution:
    """Count an execution and return it."""
    node, past, upstream = pending.node, builder.history_of(pending.node), pending.upstream
    visit, origin = past.visits + 1, past.origin if pending.origin in {None, node} else pending.origin
    builder.remember(node, visits=visit, origin=origin)
    builder.change(executions=builder.now.executions + 1)
    key, begins, joins = execution_key(builder.now.run, node, visit), pending.begins_branch, pending.joins
    builder.lead_to((node,))
    execution = Execution(key, node, pending.branch, upstream, prompt=prompt, begins_branch=begins, joins=joins)
    if joins is None and _is_turn(builder, execution):
        builder.emit("SessionTurnStart", execution, turnId=key)
    builder.emit("StageEntered", execution, upstreamCount=len(upstream))
    return execution


def _is_turn(builder: StepBuilder, execution: Execution) -> bool:
    """Tell whether a session turn begins or ends with a stage; those in a fork are part of one."""
    act = builder.nodes[execution.node].act
    return isinstance(act, Converse) and is_outside(builder.now.scopes, execution.branch)


def _begin_fallback(builder: StepBuilder, pending: PendingNode, why: str) -> tuple[NodeResult, ...]:
    builder.emit("StageInitFailed", stageId=pending.node, reason=why)
    if pending.otherwise is None:
        builder.give_up(_failure_before(builder, pending, FailureKind.UNSTARTABLE, why))
        return _NOTHING
    return begin(builder, PendingNode(pending.otherwise, pending.branch, pending.upstream, pending.origin))


def _follow(builder: StepBuilder, over: NodeResult) -> tuple[NodeResult, ...]:
    execution = builder.acting = over.execution
    builder.leave((execution.key,))
    builder.last = over.result
    builder.begin_move(execution, describe_outcome(builder, over))
    if _is_turn(builder, execution):
        builder.emit("SessionTurnEnd", execution, turnId=session_turn_of(builder.now.scopes, execution))
    failure = _count_repeat(builder, over)
    if failure is not None:
        builder.give_up(failure_in(execution, failure))
        return _NOTHING
    if over.back is not None:
        return begin(builder, PendingNode(over.back, execution.branch, (over.result,), prompt=over.prompt))
    if execution.begins_branch and over.outcome != _FAIL:
        return _end_branch(builder, execution.branch, Outcome.DONE, over)
    edges = builder.program.routes[execution.node].get(over.outcome, ())
    target = choose(edges, over.result, over.named)
    if target is None:
        builder.give_up(failure_in(execution, describe_dead_end(over)))
        return _NOTHING
    return _go(builder, target, over)


def _count_repeat(builder: StepBuilder, over: NodeResult) -> RunFailure | None:
    """Count a repeat, or forget those before another outcome; return the failure of a run that repeats too often."""
    node = over.execution.node
    act = builder.nodes[node].act
    if not isinstance(act, Prompt) or act.repeats is None:
        return None
    past = builder.history_of(node).repeats
    if over.outcome != _REPEAT:
        if past:
            builder.remember(node, repeats=0)
        return None
    if past == len(act.repeats):
        return RunFailure(FailureKind.CHAIN_EXHAUSTED, f"{format_count(past, 'repeat')} in a row")
    builder.remember(node, repeats=past + 1)
    return None


def _go(builder: StepBuilder, target: Target, over: NodeResult) -> tuple[NodeResult, ...]:
    execution = over.execution
    match target:
        case Go():
            pending = PendingNode(target.node, execution.branch, (over.result,), execution.node, target.otherwise)
            return begin(builder, pending)
        case Stop():
            return _end_branch(builder, execution.branch, target.outcome, over)
        case Fork():
            _fork(builder, execution, target)
        case Schedule():
            open_schedule(builder, execution.key, execution.branch, target)
        case Chain(nodes=()):
            return _end_branch(builder, execution.branch, Outcome.DONE, over)
        case Chain():
            first, *_ = open_scope(builder, execution, Scope(execution.branch, target.nodes, is_chain=True))
            return begin(builder, PendingNode(target.nodes[0], first, (over.result,), execution.node))
        case _:
            raise AssertionError(f"{target} was not decided")
    return _NOTHING


def _fork(builder: StepBuilder, execution: Execution, target: Fork) -> None:
    """Begin the branches of a fork, in its order, as far as there is room."""
    if len(target.nodes) < _SIBLINGS:
        why = error("ExtensionHost/InvalidParallelPlan")
        builder.fail(FailureKind.SMALL_FORK, "", execution, why)
        return
    branches = open_scope(builder, execution, Scope(execution.branch, target.nodes, target.join))
    pairs = zip(target.nodes, branches, strict=True)
    begun = (PendingNode(node, branch, begins_branch=True, origin=execution.node) for node, branch in pairs)
    builder.change(waiting=builder.now.waiting.having(begun))
    builder.lead_to(target.nodes)
    if is_outside(builder.now.scopes, execution.branch):
        turn = fork_turn(execution.key)
        builder.emit("SessionTurnStart", compoundTurnId=turn, turnId=turn)


_SIBLINGS = 2
"""The fewest branches of a fork."""


def _end_branch(builder: StepBuilder, branch: Branch, outcome: Outcome, over: NodeResult) -> tuple[NodeResult, ...]:
    following = end_branch(builder, branch, outcome, over)
    return _NOTHING if following is None else begin(builder, following)


def _admit_next(builder: StepBuilder) -> PendingNode | None:
    """Return the first of the nodes that wait for their turn, if there is room for it."""
    if len(builder.now.active) >= builder.program.plan.limits.parallel:
        return None
    pending, others = builder.now.waiting.take()
    builder.change(waiting=others)
    return pending
