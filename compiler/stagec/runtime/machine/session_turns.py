"""Which session turn an execution belongs to: one of its own, or the compound turn of a fan-out and its join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.runtime.machine.execution import Branch, Execution
from stagec.runtime.machine.state import Scope

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
