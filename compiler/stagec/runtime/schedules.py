"""Schedules: which of their branches begin, and what happens to those that never do (§ 3.9 of the format)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Converse, Process
from stagec.plan.node import Outcome, Schedule
from stagec.protocol.lifecycle import StageEvent, StageStatus
from stagec.runtime.exchange import Resumed
from stagec.runtime.execution import Branch
from stagec.runtime.failures import FailureKind, RunFailure
from stagec.runtime.persistent_collections import Queue
from stagec.runtime.prepared_schedule import PreparedSchedule
from stagec.runtime.program import find_schedule
from stagec.runtime.state import PendingNode, Scope
from stagec.runtime.step_builder import StepBuilder


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
    """Return which kept nodes count, those that can begin then, and how many nodes each node still needs."""
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
