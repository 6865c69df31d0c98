"""A schedule prepared for a run: which node waits for which, by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.value import value
from stagec.plan.document import Plan
from stagec.plan.node import Schedule


@value
class PreparedSchedule:
    """A schedule by numbers: its nodes, those that each needs, and those that need each, in the order of the plan."""

    schedule: Schedule
    nodes: tuple[str, ...]
    index: Mapping[str, int]
    needs: tuple[tuple[int, ...], ...]
    users: tuple[tuple[int, ...], ...]

    @property
    def first(self) -> tuple[int, ...]:
        """The nodes that need nothing."""
        return tuple(place for place, needs in enumerate(self.needs) if not needs)

    def release(self, over: Iterable[int], left: Mapping[int, int]) -> tuple[list[int], dict[int, int]]:
        """Return which nodes need nothing more when some others are over, and how many each still needs.

        `left` says how many it was before, where that is no longer the number of all that a node needs.
        """
        ready: list[int] = []
        changed: dict[int, int] = {}
        for place in over:
            for user in self.users[place]:
                known = changed.get(user)
                if known is None:
                    known = left.get(user, len(self.needs[user]))
                changed[user] = known - 1
                if known == 1:
                    ready.append(user)
        return ready, changed


def list_schedules(plan: Plan) -> Iterator[Schedule]:
    """Yield the schedules of a plan, those of its entries first."""
    yield from (entry for entry in plan.entries.values() if type(entry) is Schedule)
    targets = (edge.target for node in plan.nodes.values() for edge in node.edges)
    yield from (target for target in targets if type(target) is Schedule)


def prepare(schedule: Schedule) -> PreparedSchedule:
    """Prepare a schedule, in linear time."""
    index = {name: place for place, name in enumerate(schedule.needs)}
    needs = tuple(tuple(index[each] for each in needed) for needed in schedule.needs.values())
    users: list[list[int]] = [[] for _ in needs]
    for place, needed in enumerate(needs):
        for each in needed:
            users[each].append(place)
    return PreparedSchedule(schedule, tuple(schedule.needs), index, needs, tuple(map(tuple, users)))
