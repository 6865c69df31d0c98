"""Execute the way that a bound names: every answer is chosen so that the machine does what the way says next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from properties.spending.machine import Walk, list_answers

from stagec.ir.graph.figures import Joint, Way
from stagec.ir.graph.usage import Quantity
from stagec.runtime.machine import Program
from stagec.runtime.machine.execution import Branch, Execution
from stagec.runtime.machine.state import PendingNode

Items = list[Any]
"""Names of nodes, and lists of the branches of forks, which are items themselves."""


def read_way(way: Way) -> Items:
    """Return a way as nested lists."""
    levels: list[Items] = [[]]
    for part in way:
        if part is Joint.OPEN:
            levels += [[[]], []]
        elif part is Joint.NEXT:
            branch = levels.pop()
            levels[-1][-1] = branch
            levels[-1].append([])
            levels.append([])
        elif part is Joint.CLOSE:
            branch = levels.pop()
            levels[-1][-1] = branch
            group = levels.pop()
            levels[-1].append(group)
        else:
            levels[-1].append(part)
    return levels[0]


Left = dict[tuple[str | None, int], Items]
"""What is left of a way in the run itself and in every branch of an open fork."""
_EFFORT = 20_000
"""Answers that are tried; a way does not say by which of several edges it leads on."""


class Follower:
    """Follows a way with the machine, back and forth where it can be read in several ways."""

    def __init__(self, program: Program, way: Way, *, prolong: bool) -> None:
        self._program, self._way, self._prolong = program, read_way(way), prolong

    def follow(self, measure: Quantity, goal: int) -> Walk | None:
        """Return a run that executes just what the way says and takes just so much; None where none is found."""
        walk, left = Walk.begin(self._program), Left({(None, 0): [*self._way]})
        todo = [(walk, left)] if self._enter(walk, left, None) else []
        for _ in range(_EFFORT):
            if not todo:
                return None
            walk, left = todo.pop()
            if walk.state.ended is not None and walk.spent.get(measure, 0) == goal:
                return walk
            todo.extend(reversed([*self._list_following(walk, left)]))
        return None

    def _list_following(self, walk: Walk, left: Left) -> Iterator[tuple[Walk, Left]]:
        """Yield what the way allows to follow, whichever request is answered next."""
        for effect in walk.state.pending.values():
            for answer in list_answers(walk, effect, prolong=self._prolong):
                following, after = walk.answer(effect.key, answer), {place: [*each] for place, each in left.items()}
                if self._enter(following, after, walk):
                    yield following, after

    def _enter(self, walk: Walk, left: Left, before: Walk | None) -> bool:
        """Take from a way what has begun with an answer; tell whether it is what the way says."""
        state = walk.state
        if state.ended is not None:
            begun = sum(walk.nodes.values()) - (0 if before is None else sum(before.nodes.values()))
            return sum(_count(items) for items in left.values()) == begun
        for name, scope in state.scopes.items():
            if scope.is_fork and (name, 0) not in left:
                items = left[_place(walk, scope.around)]
                group = items[0] if items else None
                if not isinstance(group, list) or [each[0] for each in group] != [*scope.nodes]:
                    return False
                items.pop(0)
                left |= {(name, index): [*branch] for index, branch in enumerate(group)}
        known = set() if before is None else set(before.state.active)
        for each in state.active.values():
            items = left[_place(walk, each.branch)]
            if each.key not in known and (not items or items.pop(0) != each.node):
                return False
        # an execution that is over leads to what the way says next, and to nothing where it says nothing
        active = {_place(walk, each.branch) for each in _list_alive(walk)}
        around = {_place(walk, scope.around) for scope in state.scopes.values() if scope.is_fork}
        return all(place in active or place in around or not items for place, items in left.items())


def _list_alive(walk: Walk) -> Iterator[Execution | PendingNode]:
    yield from walk.state.active.values()
    yield from walk.state.waiting


def _place(walk: Walk, branch: Branch) -> tuple[str | None, int]:
    """Return the branch of a fork that a branch is in, or the run itself: a chain continues what it is in."""
    while branch.scope is not None and not walk.state.scopes[branch.scope].is_fork:
        branch = walk.state.scopes[branch.scope].around
    return branch.scope, branch.index if branch.scope is not None else 0


def _count(items: Items) -> int:
    return sum(1 if isinstance(each, str) else sum(_count(branch) for branch in each) for each in items)
