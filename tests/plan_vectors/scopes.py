"""Branches of a run, and the scopes of forks and chains that they open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Branch:
    """A way through nodes that a `stop` ends; the run is one, and every scope has one for each of its nodes."""

    def __init__(self, name: str = "", scope: Scope | None = None) -> None:
        self.name, self.scope = name, scope
        self.done = False
        self.last: Mapping[str, Any] = {}

    def names(self) -> list[str]:
        """Return the names of the branches from the outermost to this one; the run itself has no name."""
        return [*self.scope.branch.names(), self.name] if self.scope is not None else []

    def within(self, scope: Scope) -> bool:
        """Say whether this branch is in a scope, or in one inside it."""
        return self.scope is not None and (self.scope is scope or self.scope.branch.within(scope))


class Scope:
    """A fork or a chain that is under way in a branch."""

    def __init__(self, target: Mapping[str, Any], branch: Branch, opener: str) -> None:
        self.is_fork: bool = target["is"] == "fork"
        self.nodes: Sequence[str] = target["nodes"]
        self.join: str | None = target.get("join")
        self.branch = branch
        self.branches = [Branch(f"{opener}.{place}", self) for place in range(len(self.nodes))]

    def next(self) -> int | None:
        """Return the place of the first branch that is not done, or nothing."""
        return next((place for place, branch in enumerate(self.branches) if not branch.done), None)
