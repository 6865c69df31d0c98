"""Scopes of forks and chains: opening and closing them, and telling what is inside one."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.json import Json
from stagec.runtime.moment import Moment
from stagec.runtime.state import Branch, Execution, Scope


def opened(moment: Moment, execution: Execution, scope: Scope) -> tuple[Branch, ...]:
    """Open a scope, named after the execution that leads to it, and return its branches."""
    moment.scopes[execution.key] = scope
    return tuple(Branch(execution.key, index) for index in range(len(scope.nodes)))


def close(moment: Moment, name: str) -> None:
    """Close a scope: everything in it is over, without results."""
    inside = [each for each in moment.active.values() if is_inside(moment, each.branch, name)]
    waiting = tuple(each for each in moment.waiting if not is_inside(moment, each.branch, name))
    nested = [each for each, scope in moment.scopes.items() if is_inside(moment, scope.around, name)]
    moment.cancel(inside, "ParallelSiblingFailure")
    for each in (name, *nested):
        moment.scopes.pop(each, None)
    moment.waiting = waiting


def may_join(results: Iterable[Json]) -> bool:
    """Tell whether a join may run: every branch has ended with a result that was accepted, where there are verdicts."""
    return all(_verdict(each) in {None, "ok"} for each in results)


def is_skipped(result: Json) -> bool:
    """Tell whether a result is that of a node that did not act, which does not count as success in a fork."""
    return _verdict(result) == "skip"


def _verdict(result: Json) -> Json:
    return result.get("verdict") if isinstance(result, dict) else None


def is_inside(moment: Moment, branch: Branch, name: str) -> bool:
    """Tell whether a branch is in a scope, or in one inside it."""
    while branch.scope is not None and branch.scope != name:
        branch = moment.scopes[branch.scope].around
    return branch.scope == name
