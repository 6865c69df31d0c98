"""From node to node: where executions begin, and where their outcomes lead (§§ 3.2, 3.8 and 3.9 of the format)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Converse, Prompt
from stagec.plan.node import Chain, Fork, Go, Outcome, Stop, Target
from stagec.runtime.acts import begin_act
from stagec.runtime.acts.supply import UnstartableError, prompt_text
from stagec.runtime.fault import error
from stagec.runtime.finished import Finished
from stagec.runtime.gate import ABORT
from stagec.runtime.moment import Moment
from stagec.runtime.route import chosen
from stagec.runtime.scopes import close, is_skipped, may_join, opened
from stagec.runtime.state import Arrival, Branch, Execution, Scope
from stagec.runtime.turns import is_outside, session_turn, turn_of

_NOTHING: tuple[Finished, ...] = ()
_FAIL = "fail"


def move(moment: Moment, over: Iterable[Finished]) -> None:
    """Follow the outcomes of executions that are over until the run waits for the world, or has ended."""
    todo = deque(over)
    while moment.ended is None:
        if todo:
            todo.extend(_follow(moment, todo.popleft()))
        elif not moment.waiting or (arrival := _admitted(moment)) is None:
            return
        else:
            moment.acting = None
            todo.extend(begin(moment, arrival))


def begin(moment: Moment, arrival: Arrival) -> tuple[Finished, ...]:
    """Begin an execution, and return it if it is over at once."""
    limits, count = moment.program.plan.limits, moment.executions
    if limits.executions is not None and count >= limits.executions:
        moment.end(limits.reached, "bound reached")
        return _NOTHING
    act, prompt = moment.nodes[arrival.node].act, arrival.prompt
    if prompt is None and isinstance(act, Prompt):
        try:
            prompt = prompt_text(moment, act)
        except UnstartableError as error:
            return _instead(moment, arrival, str(error))
    return begin_act(moment, act, _entered(moment, arrival, prompt))


def _entered(moment: Moment, arrival: Arrival, prompt: str | None) -> Execution:
    """Count an execution and return it."""
    node, past, upstream = arrival.node, moment.past_of(arrival.node), arrival.upstream
    visit, origin = past.visits + 1, past.origin if arrival.origin in {None, node} else arrival.origin
    moment.past = moment.past.having(node, replace(past, visits=visit, origin=origin))
    moment.executions += 1
    key, begins, joins = f"{moment.run}/{node}#{visit}", arrival.begins_branch, arrival.joins
    execution = Execution(key, node, arrival.branch, upstream, prompt=prompt, begins_branch=begins, joins=joins)
    if joins is None and _is_turn(moment, execution):
        moment.tell("SessionTurnStart", execution, turnId=key)
    moment.tell("StageEntered", execution, upstreamCount=len(upstream))
    return execution


def _is_turn(moment: Moment, execution: Execution) -> bool:
    """Tell whether a session turn begins or ends with a stage; those in a fork are part of one."""
    act = moment.nodes[execution.node].act
    return isinstance(act, Converse) and is_outside(moment.scopes, execution.branch)


def _instead(moment: Moment, arrival: Arrival, why: str) -> tuple[Finished, ...]:
    moment.tell("StageInitFailed", stageId=arrival.node, reason=why)
    if arrival.otherwise is None:
        moment.end(Outcome.FAILED, f"{arrival.node} cannot start: {why}")
        return _NOTHING
    return begin(moment, Arrival(arrival.otherwise, arrival.branch, arrival.upstream, arrival.origin))


def _follow(moment: Moment, over: Finished) -> tuple[Finished, ...]:
    execution = moment.acting = over.execution
    moment.leave((execution.key,))
    if _is_turn(moment, execution):
        moment.tell("SessionTurnEnd", execution, turnId=session_turn(moment.scopes, execution))
    if over.back is not None:
        return begin(moment, Arrival(over.back, execution.branch, (over.result,), prompt=over.prompt))
    if execution.begins_branch and over.outcome != _FAIL:
        return _end_branch(moment, execution.branch, Outcome.DONE, over)
    edges = moment.program.routes[execution.node].get(over.outcome, ())
    target = chosen(edges, over.result, over.named)
    if target is None:
        aborted = over.outcome == ABORT
        moment.end(Outcome.FAILED, "aborted" if aborted else f"{over.outcome} of {execution.node} leads nowhere")
        return _NOTHING
    return _go(moment, target, over)


def _go(moment: Moment, target: Target, over: Finished) -> tuple[Finished, ...]:
    execution = over.execution
    match target:
        case Go():
            arrival = Arrival(target.node, execution.branch, (over.result,), execution.node, target.otherwise)
            return begin(moment, arrival)
        case Stop():
            return _end_branch(moment, execution.branch, target.outcome, over)
        case Fork():
            _spawn(moment, execution, target)
        case Chain(nodes=()):
            return _end_branch(moment, execution.branch, Outcome.DONE, over)
        case Chain():
            first, *_ = opened(moment, execution, Scope(execution.branch, target.nodes, None, is_chain=True))
            return begin(moment, Arrival(target.nodes[0], first, (over.result,), execution.node))
        case _:
            raise AssertionError(f"{target} was not decided")
    return _NOTHING


def _spawn(moment: Moment, execution: Execution, target: Fork) -> None:
    """Begin the branches of a fork, in its order, as far as there is room."""
    if len(target.nodes) < _SIBLINGS:
        why = error("ExtensionHost/InvalidParallelPlan")
        moment.end(Outcome.FAILED, f"{execution.node} leads to a fork of fewer than two nodes", why)
        return
    branches = opened(moment, execution, Scope(execution.branch, target.nodes, target.join, is_chain=False))
    pairs = zip(target.nodes, branches, strict=True)
    begun = (Arrival(node, branch, begins_branch=True, origin=execution.node) for node, branch in pairs)
    moment.waiting = (*moment.waiting, *begun)
    if is_outside(moment.scopes, execution.branch):
        turn = turn_of(execution.key)
        moment.tell("SessionTurnStart", compoundTurnId=turn, turnId=turn)


_SIBLINGS = 2
"""The fewest branches of a fork."""


def _end_branch(moment: Moment, branch: Branch, outcome: Outcome, over: Finished) -> tuple[Finished, ...]:
    """End a branch, and every scope that ends with it, until something follows or the run has ended."""
    why = error("ExtensionHost/LifecycleFailure", stageId=over.execution.node) if over.execution.joins else None
    while branch.scope is not None:
        scope: Scope = moment.scopes[branch.scope]
        if not scope.is_chain and is_skipped(over.result):
            outcome = Outcome.FAILED
        if outcome is Outcome.DONE:
            following = _after(moment, scope, branch, over)
            if following is not None:
                return following
        elif not scope.is_chain:
            why = _sibling_failed(moment, scope, branch)
        _leave_scope(moment, branch.scope, scope)
        branch = scope.around
    if outcome is Outcome.DONE:
        moment.end(outcome, "completed")
    else:
        moment.end(outcome, f"{over.execution.node} failed", why)
    return _NOTHING


def _sibling_failed(moment: Moment, scope: Scope, branch: Branch) -> Mapping[str, Json]:
    turn = turn_of(str(branch.scope))
    facts: dict[str, Json] = {"failedSiblingId": scope.nodes[branch.index], "compoundTurnId": turn, "joinReady": False}
    moment.tell("ParallelSiblingFailure", **facts)
    return error("ExtensionHost/ParallelSiblingFailure", **facts)


def _leave_scope(moment: Moment, name: str, scope: Scope) -> None:
    close(moment, name)
    if not scope.is_chain and is_outside(moment.scopes, scope.around):
        moment.tell("SessionTurnEnd", compoundTurnId=turn_of(name), turnId=turn_of(name))


def _after(moment: Moment, scope: Scope, branch: Branch, over: Finished) -> tuple[Finished, ...] | None:
    """Return what follows in a scope when one of its branches has ended as done; None when the scope is over."""
    name = str(branch.scope)
    results = {**dict(scope.results), branch.index: over.result}
    if scope.is_chain and len(results) < len(scope.nodes):
        moment.scopes[name] = _with(scope, results)
        index, origin = branch.index + 1, over.execution.node
        return begin(moment, Arrival(scope.nodes[index], Branch(name, index), (over.result,), origin))
    if len(results) < len(scope.nodes):
        moment.scopes[name] = _with(scope, results)
        return _NOTHING
    if scope.join is None:
        return None
    upstream = tuple(results[index] for index in range(len(scope.nodes)))
    if not may_join(upstream):
        why = error("ExtensionHost/JoinPreconditionViolated", stageId=scope.join)
        moment.end(Outcome.FAILED, f"{scope.join} cannot join what has not succeeded", why)
        return _NOTHING
    close(moment, name)
    return begin(moment, Arrival(scope.join, scope.around, upstream, over.execution.node, joins=name))


def _with(scope: Scope, results: Mapping[int, Json]) -> Scope:
    return replace(scope, results=tuple(sorted(results.items(), key=_index)))


def _index(ended: tuple[int, Json]) -> int:
    return ended[0]


def _admitted(moment: Moment) -> Arrival | None:
    """Return the first of the nodes that wait for their turn, if there is room for it."""
    if len(moment.active) >= moment.program.plan.limits.parallel:
        return None
    arrival, *others = moment.waiting
    moment.waiting = tuple(others)
    return arrival
