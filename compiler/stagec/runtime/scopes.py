"""Scopes: forks, chains and schedules open them, and what follows when their branches end (§ 3.9 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.plan.act import Command, Converse, Delegate
from stagec.plan.node import Outcome
from stagec.runtime.execution import Branch, Execution, NodeResult, failure_in
from stagec.runtime.failures import FailureKind, RunFailure, describe_failure
from stagec.runtime.gate import ABORT, is_skipped, may_join, read_explanation, verdict_of
from stagec.runtime.persistent_collections import Queue
from stagec.runtime.schedules import end_scheduled
from stagec.runtime.session_turns import fork_turn, is_outside
from stagec.runtime.state import PendingNode, Scope
from stagec.runtime.step_builder import StepBuilder, error


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
    builder.change(waiting=Queue(waiting))


def is_inside(builder: StepBuilder, branch: Branch, name: str) -> bool:
    """Tell whether a branch is in a scope, or in one inside it."""
    while branch.scope is not None and branch.scope != name:
        branch = builder.now.scopes[branch.scope].around
    return branch.scope == name


@value
class _End:
    """How a branch or a scope ends, why if not as done, and what the documents call that."""

    outcome: Outcome
    failure: RunFailure | None = None
    why: Mapping[str, Json] | None = None


def end_branch(builder: StepBuilder, branch: Branch, outcome: Outcome, over: NodeResult) -> PendingNode | None:
    """End a branch, and every scope that ends with it; return what begins then, if anything does at once."""
    why = error("ExtensionHost/LifecycleFailure", stageId=over.execution.node) if over.execution.joins else None
    end: _End | None = _End(outcome, None if outcome is Outcome.DONE else _find_failure(builder, over), why)
    while end is not None and branch.scope is not None:
        scope: Scope = builder.now.scopes[branch.scope]
        if end.outcome is Outcome.DONE and not scope.is_chain and is_skipped(over.result):
            end = replace(end, outcome=Outcome.FAILED, failure=_find_failure(builder, over))
        following, end = _end_in_scope(builder, branch, end, over)
        if end is None:
            return following
        name = branch.scope
        close_scope(builder, name)
        if scope.is_fork and is_outside(builder.now.scopes, scope.around):
            builder.emit("SessionTurnEnd", compoundTurnId=fork_turn(name), turnId=fork_turn(name))
        branch = scope.around
    if end is not None:
        end_run(builder, end.outcome, end.failure, end.why)
    return None


def _end_in_scope(
    builder: StepBuilder, branch: Branch, end: _End, over: NodeResult
) -> tuple[PendingNode | None, _End | None]:
    """Return what begins when a branch of a scope has ended, and how the scope ends if it does."""
    scope: Scope = builder.now.scopes[str(branch.scope)]
    if scope.agenda is not None:
        ended = end_scheduled(builder, branch, end.outcome, over.result, end.failure)
        return None, None if ended is None else replace(end, outcome=ended.ended, failure=ended.failure)
    if end.outcome is Outcome.DONE:
        following, is_over = _continue_scope(builder, scope, branch, over)
        return following, end if is_over else None
    return None, replace(end, why=_report_failed_sibling(builder, scope, branch)) if scope.is_fork else end


def end_run(
    builder: StepBuilder, outcome: Outcome, failure: RunFailure | None, why: Mapping[str, Json] | None = None
) -> None:
    """End the run as what has ended outside of every scope did."""
    cancelled = builder.now.cancelled
    if cancelled is not None:
        builder.give_up(cancelled, error("Cancellation/TurnCancelled"))
    elif failure is None:
        builder.complete("completed")
    else:
        builder.give_up(failure, why, outcome)


def describe_outcome(builder: StepBuilder, over: NodeResult) -> str:
    """Return an outcome in a few words: a verdict, the exit status of a program, or an intent."""
    result, act = object_of(over.result), builder.nodes[over.execution.node].act
    outcome = over.outcome
    if isinstance(act, Converse):
        outcome = str(result["verdict"])
    elif isinstance(act, Command):
        status = object_of(result["answer"])["exit"]
        outcome = "killed" if status is None else f"exit {status}"
    elif isinstance(act, Delegate):
        outcome = str(result.get("outcome", outcome))
    return outcome if over.refused is None else f"{outcome} refused: {over.refused}"


def describe_dead_end(over: NodeResult) -> RunFailure:
    """Return the failure of an outcome that no edge takes; `abort` needs none."""
    if over.outcome == ABORT:
        return RunFailure(FailureKind.ABORTED, read_explanation(object_of(over.result).get("answer")))
    named = "" if over.named is None else f", which names {quote(over.named)}"
    why = "" if over.failure is None else f"; {describe_failure(over.failure)}"
    return RunFailure(FailureKind.NO_EDGE, f"no edge takes the outcome {over.outcome}{named}{why}")


def _find_failure(builder: StepBuilder, over: NodeResult) -> RunFailure:
    """Return the failure of a node that an end follows: its own, or that the end is one as failed."""
    if over.failure is not None or over.outcome == ABORT:
        found = over.failure or describe_dead_end(over)
    elif is_skipped(over.result):
        found = RunFailure(FailureKind.SKIPPED)
    else:
        found = RunFailure(FailureKind.STOPPED, f"its outcome is {describe_outcome(builder, over)}")
    return failure_in(over.execution, found)


def _report_failed_sibling(builder: StepBuilder, scope: Scope, branch: Branch) -> Mapping[str, Json]:
    turn = fork_turn(str(branch.scope))
    facts: dict[str, Json] = {"failedSiblingId": scope.nodes[branch.index], "compoundTurnId": turn, "joinReady": False}
    builder.emit("ParallelSiblingFailure", **facts)
    return error("ExtensionHost/ParallelSiblingFailure", **facts)


def _continue_scope(
    builder: StepBuilder, scope: Scope, branch: Branch, over: NodeResult
) -> tuple[PendingNode | None, bool]:
    """Return what follows in a fork or a chain when one of its branches has ended as done, and whether it is over."""
    name = str(branch.scope)
    scope = replace(scope, results=scope.results.having(branch.index, over.result))
    is_complete = len(scope.results) == len(scope.nodes)
    if not is_complete:
        builder.put_scope(name, scope)
        index, origin = branch.index + 1, over.execution.node
        following = (
            PendingNode(scope.nodes[index], Branch(name, index), (over.result,), origin) if scope.is_chain else None
        )
        return following, False
    if scope.join is None:
        return None, True
    upstream = tuple(scope.results[index] for index in range(len(scope.nodes)))
    if not may_join(upstream):
        bad = next(index for index, each in enumerate(upstream) if not may_join((each,)))
        detail = f"the branch of {scope.nodes[bad]} ended with {as_text(verdict_of(upstream[bad]))}"
        failure = RunFailure(FailureKind.UNJOINABLE, detail, scope.join)
        builder.give_up(failure, error("ExtensionHost/JoinPreconditionViolated", stageId=scope.join))
        return None, False
    close_scope(builder, name)
    return PendingNode(scope.join, scope.around, upstream, over.execution.node, joins=name), False
