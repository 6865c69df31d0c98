"""The order of a plan's stages: cycles of dependencies, and work that lies between two checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from stagec.core.place import Place
from stagec.core.precedence import Precedence, components
from stagec.core.value import value
from stagec.languages.envelopes.document import DependencyKind, Envelope, StagePlan


@value
class DependencyCycle:
    """Stages that depend on each other, in the order of the plan, and one way round that begins with the first.

    `ways` has for each stage of `way` the place where it says that it depends on the next.
    """

    stages: tuple[Envelope, ...]
    way: tuple[Envelope, ...]
    ways: tuple[Place, ...]


def find_cycles(plan: StagePlan) -> tuple[DependencyCycle, ...]:
    """Return one cycle for each group of stages that depend on each other, in the order of the plan."""
    return plan.memo.once("cycles", lambda: tuple(_list_cycles(plan)))


def share_cycle(plan: StagePlan, one: Envelope, other: Envelope) -> bool:
    """Tell whether two stages depend on each other, directly or not."""
    groups = plan.memo.once(
        "groups", lambda: {each.at: number for number, cycle in enumerate(find_cycles(plan)) for each in cycle.stages}
    )
    return one.at in groups and groups[one.at] == groups.get(other.at)


def measure_losses(plan: StagePlan) -> Iterator[tuple[Envelope, float]]:
    """Yield the stages without a checkpoint that others need, each with the seconds of work that a crash can lose.

    That is its own limit, and the longest chain of stages that need it up to the next one with a checkpoint.
    """
    if all(each.checkpoint_after for each in plan.envelopes):
        return
    leads = _find_needs(plan)
    followers: list[list[int]] = [[] for _ in leads]
    for index, needs in enumerate(leads):
        for need in needs:
            followers[need].append(index)
    lost = [0.0] * len(leads)
    for group in components(followers):  # each after all that need it
        for index in group if len(group) == 1 else ():
            # the longest chain behind it ends with a checkpoint, or goes on as far as that of a follower does
            behind = ((plan.envelopes[each], lost[each]) for each in followers[index])
            longest = (stage.max_duration if stage.checkpoint_after else more for stage, more in behind)
            lost[index] = plan.envelopes[index].max_duration + max(longest, default=0.0)
    for index, each in enumerate(plan.envelopes):
        if not each.checkpoint_after and followers[index]:
            yield each, lost[index]


def find_concurrent(plan: StagePlan) -> tuple[Envelope, Envelope] | None:
    """Return two stages of which neither waits for the other, or nothing if there are none, or there is a cycle."""
    leads = _find_needs(plan)
    order: Sequence[int] = range(len(leads))
    if not plan.is_in_order:
        order = [group[0] for group in components([list(each) for each in leads]) if len(group) == 1]
    if len(order) < len(leads):
        return None
    for one, other in pairwise(order):  # what could lie between them is in front of both or behind
        if one not in leads[other]:
            return plan.envelopes[one], plan.envelopes[other]
    return None


def find_precedence(plan: StagePlan) -> Precedence | None:
    """Return which envelopes wait for which, by their place in the plan; nothing if some wait for each other."""
    found = plan.memo.once("precedence", lambda: Precedence([list(each) for each in _find_needs(plan)]))
    return found if found.order else None


def _find_needs(plan: StagePlan) -> Sequence[Sequence[int]]:
    """Return for each envelope the indexes of those it needs; what a misspelt dependency seems to mean is none."""
    return plan.memo.once("needs", lambda: [list(each) for each in _list_needs(plan)])


def _list_needs(plan: StagePlan) -> Iterator[Iterator[int]]:
    index: dict[str, int] = {}
    for place, each in enumerate(plan.envelopes):
        index.setdefault(each.name, place)
    for place, each in enumerate(plan.envelopes):
        needs = (*each.needs, *each.implied) if each.implied else each.needs
        guessed: set[str] = set()
        if each.oddities:
            guessed = {name for odd in each.oddities if odd.kind is DependencyKind.UNKNOWN for name in odd.meant}
            guessed.difference_update(each.dependencies, (str(given.producer) for given in each.inputs.values()))
            guessed.difference_update(*(odd.meant for odd in each.oddities if odd.kind is DependencyKind.SHORT))
        yield (index[name] for name in needs if name not in guessed and index[name] != place)


def _list_cycles(plan: StagePlan) -> Iterator[DependencyCycle]:
    if plan.is_in_order:
        return
    leads = [list(each) for each in _find_needs(plan)]
    for group in sorted(group for group in components(leads) if len(group) > 1):
        way = _find_way_round(leads, group)
        stages = [plan.envelopes[index] for index in way]
        ways = zip(stages, [*stages[1:], stages[0]], strict=True)
        yield DependencyCycle(
            tuple(plan.envelopes[index] for index in group),
            tuple(stages),
            tuple(_place_need(one, other.id or "") for one, other in ways),
        )


def _find_way_round(leads: Sequence[Sequence[int]], group: Sequence[int]) -> list[int]:
    """Return the shortest way from the first of a group back to it."""
    first, inside = group[0], set(group)
    came_from: dict[int, int] = {}
    waiting = [first]
    for each in waiting:  # grows while it is read
        for need in leads[each]:
            if need == first:
                return _trace(came_from, each)
            if need in inside and need not in came_from:
                came_from[need] = each
                waiting.append(need)
    raise ValueError("the group is no cycle")


def _trace(came_from: Mapping[int, int], last: int) -> list[int]:
    way = [last]
    while way[-1] in came_from:
        way.append(came_from[way[-1]])
    return way[::-1]


def _place_need(stage: Envelope, need: str) -> Place:
    """Return where a stage says that it needs another: as a dependency, or by an input."""
    mention = stage.place_mentions().get(need)
    if mention is not None:
        return mention
    found = (stage.place_input(name) for name, each in stage.inputs.items() if each.producer == need)
    return next(found, stage.at / "dependencies")
