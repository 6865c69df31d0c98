"""Branches of a run, and the scopes of forks, chains and schedules that they open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Branch:
    """A way through nodes that a `stop` ends; the run is one, and every scope has one for each of its nodes."""

    def __init__(self, name: str = "", scope: Scope | None = None) -> None:
        self.name, self.scope = name, scope
        self.done = False
        self.begun = False
        self.ended: str | None = None
        self.last: Mapping[str, Any] = {}

    def names(self) -> list[str]:
        """Return the names of the branches from the outermost to this one; the run itself has no name."""
        return [*self.scope.branch.names(), self.name] if self.scope is not None else []

    def within(self, scope: Scope) -> bool:
        """Say whether this branch is in a scope, or in one inside it."""
        return self.scope is not None and (self.scope is scope or self.scope.branch.within(scope))


class Scope:
    """A fork, a chain or a schedule that is under way in a branch."""

    def __init__(self, target: Mapping[str, Any], branch: Branch, opener: str) -> None:
        self.kind: str = target["is"]
        self.needs: Mapping[str, Sequence[str]] = target.get("needs", {})
        self.nodes: Sequence[str] = target.get("nodes", [*self.needs])
        self.join: str | None = target.get("join")
        self.branch = branch
        self.branches = [Branch(f"{opener}.{place}", self) for place in range(len(self.nodes))]

    @property
    def is_fork(self) -> bool:
        return self.kind == "fork"

    @property
    def is_over(self) -> bool:
        """Whether no branch that has begun goes on."""
        return all(each.ended is not None for each in self.branches if each.begun)

    @property
    def outcome(self) -> str:
        """How a schedule that is over ends."""
        ends = [each.ended for each in self.branches if each.ended not in {None, "done"}]
        return "failed" if "failed" in ends else "interrupted" if ends else "done"

    def next(self) -> int | None:
        """Return the place of the first branch that is not done, or nothing."""
        return next((place for place, branch in enumerate(self.branches) if not branch.done), None)

    def needed(self, place: int) -> Iterator[Branch]:
        """Yield the branches that one of a schedule needs."""
        return (self.branches[self.nodes.index(each)] for each in self.needs[self.nodes[place]])

    def ready(self) -> Iterator[int]:
        """Yield the places of the branches of a schedule that can begin and have not."""
        for place, branch in enumerate(self.branches):
            if not branch.begun and branch.ended is None and all(each.ended == "done" for each in self.needed(place)):
                yield place
