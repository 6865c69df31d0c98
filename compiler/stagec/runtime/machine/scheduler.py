"""Move from node to node: begin executions, and follow their outcomes (§§ 3.2, 3.8 and 3.9 of the format)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, follow, object_of
from stagec.core.value import replace, value
from stagec.core.words import format_count, quote
from stagec.ir.plan.act import Command, Converse, Delegate, Process, Prompt
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Outcome, Schedule, Stop, Target
from stagec.ir.protocol.lifecycle import StageEvent, StageStatus
from stagec.runtime.machine.acts import begin_act
from stagec.runtime.machine.acts.agent import find_exceeded
from stagec.runtime.machine.acts.prompt import UnstartableError, render_prompt
from stagec.runtime.machine.exchange import Resumed, Wait, execution_key
from stagec.runtime.machine.execution import Branch, Execution, NodeResult, PendingMove, failure_in
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_failure
from stagec.runtime.machine.gate import ABORT, is_skipped, may_join, read_explanation, verdict_of
from stagec.runtime.machine.program import PreparedSchedule, choose_edge, find_schedule
from stagec.runtime.machine.state import PendingNode, Queue, Scope
from stagec.runtime.machine.step_builder import StepBuilder, error, fork_turn, is_outside, session_turn_of


def open_schedule(builder: StepBuilder, name: str, around: Branch, schedule: Schedule) -> None:
    """Open the scope of a schedule, and let those of its branches wait for room that need nothing."""
    number = find_schedule(builder.program, schedule)
    prepared = builder.program.schedules[number]
    scope = Scope(around, prepared.nodes, agenda=number)
    if _runs_processes(builder, prepared):
        builder.set_statuses(dict.fromkeys(prepared.nodes, StageStatus.PENDING))
    _put(builder, name, scope, prepared.first)


def reopen_schedule(builder: StepBuilder, name: str, schedule: Schedule, event: Resumed) -> Scope:
    """Open the scope of a schedule whose kept nodes have ended as done; return it, for it may be over at once.

    Kept is what the event names and all of whose needs are kept. A node that may not run again without consent is
    blocked, and so is what needs it.
    """
    number = find_schedule(builder.program, schedule)
    prepared = builder.program.schedules[number]
    done, ready, left = _keep(prepared, {prepared.index[each] for each in event.kept if each in prepared.index})
    refused = _refuse(builder, prepared, set(done), event)
    statuses = dict.fromkeys(prepared.nodes, StageStatus.PENDING)
    statuses |= {prepared.nodes[place]: StageStatus.COMPLETED for place in done}
    statuses |= {prepared.nodes[place]: StageStatus.BLOCKED for place in refused}
    builder.set_statuses(statuses)
    kept, lost = [prepared.nodes[place] for place in done], [prepared.nodes[place] for place in refused]
    builder.emit("RunResumed", checkpoint=event.checkpoint, kept=kept, blocked=lost)
    scope = Scope(Branch(), prepared.nodes, agenda=number)
    scope = replace(scope, results=scope.results.having_all(dict.fromkeys(done)), left=scope.left.having_all(left))
    for place in refused:
        scope = _blame(scope, Outcome.FAILED, RunFailure(FailureKind.STAGE_BLOCKED, "", prepared.nodes[place]))
        _block(builder, prepared, place)
    return _put(builder, name, scope, ready)


def _keep(prepared: PreparedSchedule, kept: set[int]) -> tuple[list[int], list[int], dict[int, int]]:
    """Return the kept nodes that count, those that can begin then, and how many nodes each node still needs."""
    left: dict[int, int] = {}
    done = [place for place in prepared.first if place in kept]
    ready = [place for place in prepared.first if place not in kept]
    for place in done:  # grows while it is read
        freed, changed = prepared.release((place,), left)
        left |= changed
        done.extend(each for each in freed if each in kept)
        ready.extend(each for each in freed if each not in kept)
    return done, sorted(ready), left


def _refuse(builder: StepBuilder, prepared: PreparedSchedule, done: set[int], event: Resumed) -> list[int]:
    """Return the nodes that have begun before, are not retryable, and that nobody lets run again."""
    begun, consented = frozenset(event.kept), frozenset(event.consented)
    found = []
    for place, name in enumerate(prepared.nodes):
        act = builder.nodes[name].act
        if place not in done and type(act) is Process and not act.retryable and name not in consented:
            found.extend([place] if builder.history_of(name).visits or name in begun else [])
    return found


def end_scheduled(
    builder: StepBuilder, branch: Branch, outcome: Outcome, result: Json, failure: RunFailure | None
) -> Scope | None:
    """Take the end of a branch of a schedule; return the scope when it is over with it."""
    name = str(branch.scope)
    scope: Scope = builder.now.scopes[name]
    prepared = builder.program.schedules[scope.agenda or 0]
    ready: Iterable[int] = ()
    scope = replace(scope, open=scope.open - 1)
    if outcome is not Outcome.DONE:
        scope = _blame(scope, outcome, failure)
        _block(builder, prepared, branch.index)
    else:
        freed, changed = prepared.release((branch.index,), scope.left)
        results = scope.results.having(branch.index, result)
        scope = replace(scope, results=results, left=scope.left.having_all(changed) if changed else scope.left)
        ready = freed
    scope = _put(builder, name, scope, ready)
    return None if scope.open else scope


def stop_schedule(builder: StepBuilder, name: str, why: RunFailure) -> None:
    """Let nothing begin any more in the schedule of a run, which ends with what acts now."""
    builder.change(cancelled=why, waiting=Queue())
    builder.put_scope(name, replace(builder.now.scopes[name], open=len(builder.now.active)))


def _blame(scope: Scope, outcome: Outcome, failure: RunFailure | None) -> Scope:
    """Return a scope that ends as its first branch which has failed; else as the first that was interrupted."""
    if scope.ended is Outcome.DONE or (scope.ended is Outcome.INTERRUPTED and outcome is Outcome.FAILED):
        return replace(scope, ended=outcome, failure=failure)
    return scope


def _put(builder: StepBuilder, name: str, scope: Scope, ready: Iterable[int]) -> Scope:
    """Keep a scope, with branches that wait for room from now on; none do in a run that ends."""
    prepared = builder.program.schedules[scope.agenda or 0]
    begun = [
        PendingNode(prepared.nodes[place], Branch(name, place), _hand_over(builder, prepared, scope, place))
        for place in ready
        if builder.now.cancelled is None and builder.status_of(prepared.nodes[place]) is not StageStatus.BLOCKED
    ]
    scope = replace(scope, open=scope.open + len(begun))
    builder.put_scope(name, scope)
    if begun:
        builder.change(waiting=builder.now.waiting.having(begun))
        builder.lead_to(each.node for each in begun)
    return scope


def _hand_over(builder: StepBuilder, prepared: PreparedSchedule, scope: Scope, place: int) -> tuple[Json, ...]:
    """Return the results that a node is handed: those of what it needs, if it takes any."""
    if type(builder.nodes[prepared.nodes[place]].act) is not Converse:
        return ()
    return tuple(scope.results[each] for each in prepared.needs[place])


def _block(builder: StepBuilder, prepared: PreparedSchedule, place: int) -> None:
    """Block the stages that need one which has not completed, directly or not."""
    if not _runs_processes(builder, prepared):
        return
    todo = [place]
    for each in todo:  # grows while it is read
        about: Mapping[str, Json] = {"needs": prepared.nodes[each]}
        for user in prepared.users[each]:
            name = prepared.nodes[user]
            if builder.status_of(name) is StageStatus.PENDING:
                builder.change_status(name, StageEvent.DEPENDENCY_BLOCKED, **about)
                todo.append(user)


def _runs_processes(builder: StepBuilder, prepared: PreparedSchedule) -> bool:
    """Tell whether the nodes of a schedule are stages, as all are when one is."""
    return bool(prepared.nodes) and type(builder.nodes[prepared.nodes[0]].act) is Process


def open_scope(builder: StepBuilder, execution: Execution, scope: Scope) -> tuple[Branch, ...]:
    """Open a scope, named after the execution that leads to it, and return its branches."""
    builder.put_scope(execution.key, scope)
    return tuple(Branch(execution.key, index) for index in range(scope.branches))


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
    """The end of a branch or a scope, the reason unless it is done, and its word in the documents."""

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
    """Return the nodes that begin after a branch of a scope has ended, and the end of the scope if it ends."""
    scope: Scope = builder.now.scopes[str(branch.scope)]
    if scope.agenda is not None:
        ended = end_scheduled(builder, branch, end.outcome, over.result, end.failure)
        return None, None if ended is None else replace(end, outcome=ended.ended, failure=ended.failure)
    if end.outcome is Outcome.DONE or scope.collects:
        following, is_over = _continue_scope(builder, scope, branch, end.outcome, over)
        return following, _End(Outcome.DONE, why=end.why) if is_over else None
    return None, replace(end, why=_report_failed_sibling(builder, scope, branch)) if scope.is_fork else end


def end_run(
    builder: StepBuilder, outcome: Outcome, failure: RunFailure | None, why: Mapping[str, Json] | None = None
) -> None:
    """End the run as what has ended outside of every scope did."""
    cancelled = builder.now.cancelled
    if cancelled is not None:
        builder.stop(cancelled)
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
    node = scope.nodes[branch.index if scope.elements is None else branch.place]
    facts: dict[str, Json] = {"failedSiblingId": node, "compoundTurnId": turn, "joinReady": False}
    if scope.elements is not None:
        facts["index"] = branch.index
    builder.emit("ParallelSiblingFailure", **facts)
    return error("ExtensionHost/ParallelSiblingFailure", **facts)


def _continue_scope(
    builder: StepBuilder, scope: Scope, branch: Branch, outcome: Outcome, over: NodeResult
) -> tuple[PendingNode | None, bool]:
    """Return the next step after a branch of a fork, a chain or a list is done, and whether the scope is over."""
    name = str(branch.scope)
    after = branch.place + 1
    if scope.elements is not None and outcome is Outcome.DONE and after < len(scope.nodes):
        ahead, origin = replace(branch, place=after), over.execution.node
        return PendingNode(scope.nodes[after], ahead, (over.result,), origin, begins_branch=True), False
    scope = replace(scope, results=scope.results.having(branch.index, over.result))
    if len(scope.results) < scope.branches:
        if scope.elements is not None:
            _put_elements(builder, name, replace(scope, open=scope.open - 1))
            return None, False
        builder.put_scope(name, scope)
        index, origin = branch.index + 1, over.execution.node
        following = (
            PendingNode(scope.nodes[index], Branch(name, index), (over.result,), origin) if scope.is_chain else None
        )
        return following, False
    if scope.join is None:
        return None, True
    upstream = tuple(scope.results[index] for index in range(scope.branches))
    if not scope.collects and not may_join(upstream):
        bad = next(index for index, each in enumerate(upstream) if not may_join((each,)))
        which = scope.nodes[bad] if scope.elements is None else f"element {bad}"
        detail = f"the branch of {which} ended with {as_text(verdict_of(upstream[bad]))}"
        failure = RunFailure(FailureKind.UNJOINABLE, detail, scope.join)
        builder.give_up(failure, error("ExtensionHost/JoinPreconditionViolated", stageId=scope.join))
        return None, False
    close_scope(builder, name)
    return PendingNode(scope.join, scope.around, upstream, over.execution.node, joins=name), False


def _put_elements(builder: StepBuilder, name: str, scope: Scope) -> None:
    """Keep the scope of a list, and let further elements wait for room, as many as it may have open."""
    first = len(scope.results) + scope.open
    last = min(scope.branches, first + scope.room - scope.open)
    builder.put_scope(name, replace(scope, open=scope.open + last - first))
    begun = [PendingNode(scope.nodes[0], Branch(name, index), begins_branch=True) for index in range(first, last)]
    if begun:
        builder.change(waiting=builder.now.waiting.having(begun))
        builder.lead_to(scope.nodes[:1] * len(begun))


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
    ends_branch = execution.begins_branch and over.outcome != _FAIL
    edges = builder.program.routes[execution.node].get(over.outcome, ())
    edge = None if ends_branch or over.back is not None else choose_edge(edges, over.result, over.named)
    has_waited = isinstance(execution.progress, PendingMove)
    failure = None if has_waited else _count_repeat(builder, over)
    if edge is not None and edge.wait and not has_waited and failure is None:
        _begin_wait(builder, over, edge)
        return _NOTHING
    builder.leave((execution.key,))
    builder.last = over.result
    builder.begin_move(execution, describe_outcome(builder, over))
    if _is_turn(builder, execution):
        builder.emit("SessionTurnEnd", execution, turnId=session_turn_of(builder.now.scopes, execution))
    if failure is not None:
        builder.give_up(failure_in(execution, failure))
        return _NOTHING
    if over.back is not None:
        return begin(builder, PendingNode(over.back, execution.branch, (over.result,), prompt=over.prompt))
    if ends_branch:
        return _end_branch(builder, execution.branch, Outcome.DONE, over)
    if edge is None:
        builder.give_up(failure_in(execution, describe_dead_end(over)))
        return _NOTHING
    return _go(builder, edge.target, over)


def _begin_wait(builder: StepBuilder, over: NodeResult, edge: Edge) -> None:
    """Ask for the wait before an edge is taken; the execution keeps its result, and gives up its place."""
    execution = builder.execution(over.execution.key) or over.execution
    bare = replace(over, execution=replace(execution, progress=None))
    builder.end_deadline(execution)
    builder.emit("TimerStarted", execution, milliseconds=edge.wait)
    builder.request(replace(execution, progress=PendingMove(bare)), Wait, milliseconds=edge.wait)


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
            return _begin_next(builder, pending, over)
        case Stop():
            return _end_branch(builder, execution.branch, target.outcome, over)
        case ForEach():
            return _run_each(builder, target, over)
        case Fork():
            _fork(builder, execution, target)
        case Schedule():
            open_schedule(builder, execution.key, execution.branch, target)
        case Chain(nodes=()):
            return _end_branch(builder, execution.branch, Outcome.DONE, over)
        case Chain():
            first, *_ = open_scope(builder, execution, Scope(execution.branch, target.nodes, is_chain=True))
            return _begin_next(builder, PendingNode(target.nodes[0], first, (over.result,), execution.node), over)
        case _:
            raise AssertionError(f"{target} was not decided")
    return _NOTHING


def _begin_next(builder: StepBuilder, pending: PendingNode, over: NodeResult) -> tuple[NodeResult, ...]:
    """Begin the node that follows in the place of the one before; after a wait, which has none, it waits for room."""
    if not isinstance(over.execution.progress, PendingMove):
        return begin(builder, pending)
    builder.change(waiting=builder.now.waiting.having((pending,)))
    builder.lead_to((pending.node,))
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
    _begin_turn(builder, execution)


def _run_each(builder: StepBuilder, target: ForEach, over: NodeResult) -> tuple[NodeResult, ...]:
    """Open the scope of a list; without elements its join follows at once, or its branch ends."""
    execution = over.execution
    root, *inside = target.list
    is_input = root == "ctx"
    found = follow(builder.now.inputs, inside) if is_input else follow(over.result, target.list)
    if type(found) is not list or len(found) > target.most:
        what = (
            f"has {len(found):,} elements, and {target.most:,} at most may run" if type(found) is list else "is no list"
        )
        detail = f"{'.'.join(map(str, target.list))} {what}"
        builder.give_up(failure_in(execution, RunFailure(FailureKind.NO_EDGE, detail)))
        return _NOTHING
    if not found:
        if target.join is None:
            return _end_branch(builder, execution.branch, Outcome.DONE, over)
        return _begin_next(builder, PendingNode(target.join, execution.branch, (), execution.node), over)
    room = min(len(found), target.concurrency or len(found))
    scope = Scope(execution.branch, target.nodes, target.join, elements=found, room=room, collects=target.collect)
    _put_elements(builder, execution.key, scope)
    _begin_turn(builder, execution)
    return _NOTHING


def _begin_turn(builder: StepBuilder, execution: Execution) -> None:
    """Begin the session turn of a scope that an execution has opened outside of all others."""
    if is_outside(builder.now.scopes, execution.branch):
        turn = fork_turn(execution.key)
        builder.emit("SessionTurnStart", compoundTurnId=turn, turnId=turn)


_SIBLINGS = 2
"""The fewest branches of a fork."""


def _end_branch(builder: StepBuilder, branch: Branch, outcome: Outcome, over: NodeResult) -> tuple[NodeResult, ...]:
    following = end_branch(builder, branch, outcome, over)
    return _NOTHING if following is None else _begin_next(builder, following, over)


def _admit_next(builder: StepBuilder) -> PendingNode | None:
    """Return the first of the nodes that wait for their turn, if there is room for it; timers take none."""
    active, most = builder.now.active, builder.program.plan.limits.parallel
    if len(active) >= most and sum(not isinstance(each.progress, PendingMove) for each in active.values()) >= most:
        return None
    pending, others = builder.now.waiting.take()
    builder.change(waiting=others)
    return pending
