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
        self.place = 0
        """Which of the nodes for an element runs."""

    def names(self) -> list[str]:
        """Return the names of the branches from the outermost to this one; the run itself has no name."""
        return [*self.scope.branch.names(), self.name] if self.scope is not None else []

    def element(self) -> dict[str, Any]:
        """Return the element for which this branch runs, as the context names it."""
        if self.scope is None:
            return {}
        if self.scope.elements is None:
            return self.scope.branch.element()
        index = self.scope.branches.index(self)
        return {"item": self.scope.elements[index], "index": index}

    def within(self, scope: Scope) -> bool:
        """Say whether this branch is in a scope, or in one inside it."""
        return self.scope is not None and (self.scope is scope or self.scope.branch.within(scope))


class Scope:
    """A fork, a chain, a schedule or a list of elements that is under way in a branch."""

    def __init__(
        self, target: Mapping[str, Any], branch: Branch, opener: str, elements: Sequence[Any] | None = None
    ) -> None:
        self.kind: str = target["is"]
        self.needs: Mapping[str, Sequence[str]] = target.get("needs", {})
        self.nodes: Sequence[str] = target.get("nodes", [*self.needs])
        self.join: str | None = target.get("join")
        self.branch = branch
        self.elements = elements
        self.collects: bool = target.get("collect", False)
        count = len(self.nodes) if elements is None else len(elements)
        self.room: int = target.get("concurrency", count)
        self.branches = [Branch(f"{opener}.{place}", self) for place in range(count)]

    @property
    def is_fork(self) -> bool:
        return self.kind in {"fork", "each"}

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

    def admit(self) -> Iterator[Branch]:
        """Yield the branches of a list that may begin now."""
        room = self.room - sum(each.begun and not each.done for each in self.branches)
        for each in [each for each in self.branches if not each.begun][: max(room, 0)]:
            each.begun = True
            yield each

    def needed(self, place: int) -> Iterator[Branch]:
        """Yield the branches that one of a schedule needs."""
        return (self.branches[self.nodes.index(each)] for each in self.needs[self.nodes[place]])

    def ready(self) -> Iterator[int]:
        """Yield the places of the branches of a schedule that can begin and have not."""
        for place, branch in enumerate(self.branches):
            if not branch.begun and branch.ended is None and all(each.ended == "done" for each in self.needed(place)):
                yield place
