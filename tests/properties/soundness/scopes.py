"""Which kinds of things happen to forks and chains in runs, by name."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.runtime.machine.state import Scope, State, StepResult


def of_scopes(before: State, step: StepResult) -> Iterator[str]:
    """Yield the kinds of what happened to forks and chains in one transition."""
    after, told = step.state, {each.name for each in step.trace}
    for key in after.scopes.keys() - before.scopes.keys():
        around = after.scopes[key].around.scope
        if around is not None:
            yield f"{_kind(after.scopes[key])} in a {_kind(after.scopes[around])}"
    for key, scope in before.scopes.items():
        yield from _of_scope(scope, after.scopes.get(key), is_cancelled=step.state.reason == "enough")
    if len(after.waiting) > len(before.waiting):
        yield "branch waits for room"
    if "ParallelSiblingFailure" in told:
        yield from _of_failure(before, step)
    mended = {each.branch for key, each in before.active.items() if each.begins_branch and key not in after.active}
    going = {each.branch for each in after.active.values() if not each.begins_branch}
    yield from ("branch goes on after a failure" for _ in mended & going)


def _of_scope(scope: Scope, later: Scope | None, *, is_cancelled: bool) -> Iterator[str]:
    if later is not None and scope.is_chain and scope.results != later.results:
        yield "chain goes on"
    if later is None and not is_cancelled and scope.is_chain and len(scope.results) < len(scope.nodes) - 1:
        yield "chain breaks off"


def _of_failure(before: State, step: StepResult) -> Iterator[str]:
    """Yield the kinds of a branch that has failed, and of what it does to the others."""
    yield from ("branch that waits is cancelled" for _ in before.waiting if not step.state.waiting)
    if any(each.name == "StageExited" and each.facts["verdict"] == "skip" for each in step.trace):
        yield "stage that is skipped fails its fork"


def _kind(scope: Scope) -> str:
    return "chain" if scope.is_chain else "fork"
