"""Move from node to node: where executions begin, and where their outcomes lead (§§ 3.2, 3.8 and 3.9 of the format)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.plan.act import Command, Converse, Prompt
from stagec.plan.node import Chain, Fork, Go, Outcome, Stop, Target
from stagec.runtime.acts import begin_act
from stagec.runtime.acts.variables import UnstartableError, render_prompt
from stagec.runtime.exchange import execution_key
from stagec.runtime.execution import Branch, Execution, NodeResult, failure_in
from stagec.runtime.failures import FailureKind, RunFailure, describe_failure
from stagec.runtime.gate import ABORT, is_skipped, may_join, read_explanation, verdict_of
from stagec.runtime.program import choose
from stagec.runtime.session_turns import fork_turn, is_outside, session_turn_of
from stagec.runtime.state import PendingNode, Scope
from stagec.runtime.step_builder import StepBuilder, error

_NOTHING: tuple[NodeResult, ...] = ()
_FAIL = "fail"


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
        _stop_at_bound(builder, pending)
        return _NOTHING
    act, prompt = builder.nodes[pending.node].act, pending.prompt
    if prompt is None and isinstance(act, Prompt):
        try:
            prompt = render_prompt(builder, act)
        except UnstartableError as error:
            return _begin_fallback(builder, pending, str(error))
    return begin_act(builder, act, _enter(builder, pending, prompt))


def _stop_at_bound(builder: StepBuilder, pending: PendingNode) -> None:
    limits = builder.program.plan.limits
    if limits.reached is Outcome.DONE:
        builder.complete("bound reached")
    else:
        detail = f"the limit is {limits.executions:,}"
        builder.give_up(_failure_before(builder, pending, FailureKind.BOUND, detail))


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
    builder.begin_move(execution, _describe(builder, over))
    if _is_turn(builder, execution):
        builder.emit("SessionTurnEnd", execution, turnId=session_turn_of(builder.now.scopes, execution))
    if over.back is not None:
        return begin(builder, PendingNode(over.back, execution.branch, (over.result,), prompt=over.prompt))
    if execution.begins_branch and over.outcome != _FAIL:
        return _end_branch(builder, execution.branch, Outcome.DONE, over)
    edges = builder.program.routes[execution.node].get(over.outcome, ())
    target = choose(edges, over.result, over.named)
    if target is None:
        builder.give_up(failure_in(execution, _describe_dead_end(over)))
        return _NOTHING
    return _go(builder, target, over)


def _describe(builder: StepBuilder, over: NodeResult) -> str:
    """Return an outcome in a few words: a verdict, the exit status of a program, or an intent."""
    result, act = object_of(over.result), builder.nodes[over.execution.node].act
    outcome = over.outcome
    if isinstance(act, Converse):
        outcome = str(result["verdict"])
    elif isinstance(act, Command):
        status = object_of(result["answer"])["exit"]
        outcome = "killed" if status is None else f"exit {status}"
    return outcome if over.refused is None else f"{outcome} refused: {over.refused}"


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
        case Chain(nodes=()):
            return _end_branch(builder, execution.branch, Outcome.DONE, over)
        case Chain():
            first, *_ = open_scope(builder, execution, Scope(execution.branch, target.nodes, None, is_chain=True))
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
    branches = open_scope(builder, execution, Scope(execution.branch, target.nodes, target.join, is_chain=False))
    pairs = zip(target.nodes, branches, strict=True)
    begun = (PendingNode(node, branch, begins_branch=True, origin=execution.node) for node, branch in pairs)
    builder.change(waiting=(*builder.now.waiting, *begun))
    builder.lead_to(target.nodes)
    if is_outside(builder.now.scopes, execution.branch):
        turn = fork_turn(execution.key)
        builder.emit("SessionTurnStart", compoundTurnId=turn, turnId=turn)


_SIBLINGS = 2
"""The fewest branches of a fork."""


def _end_branch(builder: StepBuilder, branch: Branch, outcome: Outcome, over: NodeResult) -> tuple[NodeResult, ...]:
    """End a branch, and every scope that ends with it, until something follows or the run has ended."""
    why = error("ExtensionHost/LifecycleFailure", stageId=over.execution.node) if over.execution.joins else None
    while branch.scope is not None:
        scope: Scope = builder.now.scopes[branch.scope]
        if not scope.is_chain and is_skipped(over.result):
            outcome = Outcome.FAILED
        if outcome is Outcome.DONE:
            following = _continue_scope(builder, scope, branch, over)
            if following is not None:
                return following
        elif not scope.is_chain:
            why = _report_failed_sibling(builder, scope, branch)
        _leave_scope(builder, branch.scope, scope)
        branch = scope.around
    if outcome is Outcome.DONE:
        builder.complete("completed")
    else:
        builder.give_up(failure_in(over.execution, _describe_end(builder, over)), why)
    return _NOTHING


def _describe_dead_end(over: NodeResult) -> RunFailure:
    """Return the failure of an outcome that no edge takes; `abort` needs none."""
    if over.outcome == ABORT:
        return RunFailure(FailureKind.ABORTED, read_explanation(object_of(over.result).get("answer")))
    named = "" if over.named is None else f", which names {quote(over.named)}"
    why = "" if over.failure is None else f"; {describe_failure(over.failure)}"
    return RunFailure(FailureKind.NO_EDGE, f"no edge takes the outcome {over.outcome}{named}{why}")


def _describe_end(builder: StepBuilder, over: NodeResult) -> RunFailure:
    """Return the failure of a node that an end follows: its own, or that the end is one as failed."""
    if over.failure is not None or over.outcome == ABORT:
        return over.failure or _describe_dead_end(over)
    if is_skipped(over.result):
        return RunFailure(FailureKind.SKIPPED)
    return RunFailure(FailureKind.STOPPED, f"its outcome is {_describe(builder, over)}")


def _report_failed_sibling(builder: StepBuilder, scope: Scope, branch: Branch) -> Mapping[str, Json]:
    turn = fork_turn(str(branch.scope))
    facts: dict[str, Json] = {"failedSiblingId": scope.nodes[branch.index], "compoundTurnId": turn, "joinReady": False}
    builder.emit("ParallelSiblingFailure", **facts)
    return error("ExtensionHost/ParallelSiblingFailure", **facts)


def _leave_scope(builder: StepBuilder, name: str, scope: Scope) -> None:
    close_scope(builder, name)
    if not scope.is_chain and is_outside(builder.now.scopes, scope.around):
        builder.emit("SessionTurnEnd", compoundTurnId=fork_turn(name), turnId=fork_turn(name))


def _continue_scope(
    builder: StepBuilder, scope: Scope, branch: Branch, over: NodeResult
) -> tuple[NodeResult, ...] | None:
    """Return what follows in a scope when one of its branches has ended as done; None when the scope is over."""
    name = str(branch.scope)
    results = {**dict(scope.results), branch.index: over.result}
    if scope.is_chain and len(results) < len(scope.nodes):
        builder.put_scope(name, _add_result(scope, results))
        index, origin = branch.index + 1, over.execution.node
        return begin(builder, PendingNode(scope.nodes[index], Branch(name, index), (over.result,), origin))
    if len(results) < len(scope.nodes):
        builder.put_scope(name, _add_result(scope, results))
        return _NOTHING
    if scope.join is None:
        return None
    upstream = tuple(results[index] for index in range(len(scope.nodes)))
    if not may_join(upstream):
        _refuse_join(builder, scope, upstream)
        return _NOTHING
    close_scope(builder, name)
    return begin(builder, PendingNode(scope.join, scope.around, upstream, over.execution.node, joins=name))


def _refuse_join(builder: StepBuilder, scope: Scope, upstream: tuple[Json, ...]) -> None:
    bad = next(index for index, each in enumerate(upstream) if not may_join((each,)))
    detail = f"the branch of {scope.nodes[bad]} ended with {as_text(verdict_of(upstream[bad]))}"
    failure = RunFailure(FailureKind.UNJOINABLE, detail, scope.join)
    builder.give_up(failure, error("ExtensionHost/JoinPreconditionViolated", stageId=scope.join))


def _add_result(scope: Scope, results: Mapping[int, Json]) -> Scope:
    return replace(scope, results=tuple(sorted(results.items(), key=_index)))


def _index(ended: tuple[int, Json]) -> int:
    return ended[0]


def _admit_next(builder: StepBuilder) -> PendingNode | None:
    """Return the first of the nodes that wait for their turn, if there is room for it."""
    if len(builder.now.active) >= builder.program.plan.limits.parallel:
        return None
    pending, *others = builder.now.waiting
    builder.change(waiting=tuple(others))
    return pending


def open_scope(builder: StepBuilder, execution: Execution, scope: Scope) -> tuple[Branch, ...]:
    """Open a scope, named after the execution that leads to it, and return its branches."""
    builder.put_scope(execution.key, scope)
    return tuple(Branch(execution.key, index) for index in range(len(scope.nodes)))


def close_scope(builder: StepBuilder, name: str) -> None:
    """Close a scope: everything in it is over, without results."""
    inside = [each for each in builder.now.active.values() if is_inside(builder, each.branch, name)]
    waiting = tuple(each for each in builder.now.waiting if not is_inside(builder, each.branch, name))
    nested = [each for each, scope in builder.now.scopes.items() if is_inside(builder, scope.around, name)]
    builder.cancel(inside, "ParallelSiblingFailure")
    builder.drop_scopes((name, *nested))
    builder.change(waiting=waiting)


def is_inside(builder: StepBuilder, branch: Branch, name: str) -> bool:
    """Tell whether a branch is in a scope, or in one inside it."""
    while branch.scope is not None and branch.scope != name:
        branch = builder.now.scopes[branch.scope].around
    return branch.scope == name
