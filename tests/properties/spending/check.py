"""Compare the bounds of a flow with runs of the machine: none takes more or less, and the named ways take just that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from properties.spending.follow import Follower
from properties.spending.machine import CALLS, VALIDATOR, Walk
from properties.spending.search import Search

from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import Assumptions, EntryBounds, Figure
from stagec.ir.graph.usage import Assumed, AssumedUse, Interval, Quantity
from stagec.ir.plan import Plan
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.program import program_of

ASSUMED = Assumptions(Assumed(0, VALIDATOR), AssumedUse(calls=Interval(0, CALLS), responses=Interval(1, 1)))
COUNTED = (Quantity.EXECUTIONS, Quantity.TURNS, Quantity.CALLS, Quantity.MILLISECONDS)
EXACT = (Quantity.EXECUTIONS, Quantity.TURNS)
"""What some run takes just as said, where nothing repeats and no limit cuts; calls end with a turn that makes none."""


class Seen(NamedTuple):
    """The runs of a flow that were seen, and its bounds."""

    plan: Plan
    entry: EntryBounds
    prolonged: list[Walk]
    shortened: list[Walk]


def look(plan: Plan, effort: int) -> Seen:
    """Run a flow in many ways, in worlds that prolong and in worlds that shorten."""
    program = program_of(plan)
    (entry,) = bound(plan, ASSUMED).entries
    found = []
    for prolong in (True, False):
        ends = [*Search(program, prolong=prolong, effort=effort, seed=1).list_ends()]
        ends += Search(program, prolong=prolong, effort=0, seed=2).wander(3)
        found.append([each for each in ends if prolong or each.state.ended is Outcome.DONE])
    return Seen(plan, entry, *found)


def find_broken(seen: Seen) -> Iterator[str]:
    """Yield every figure that some run has broken."""
    for measure in COUNTED:
        if measure is Quantity.MILLISECONDS and seen.plan.limits.parallel > 1:
            continue  # what is under way at the same time is counted one by one here
        figure = seen.entry.figures[measure]
        taken = [walk.spent.get(measure, 0) for walk in seen.prolonged]
        if figure.upper.most is not None and max(taken, default=0) > figure.upper.most:
            yield f"{measure}: {max(taken)} is more than {figure.upper.most}"
        taken = [walk.spent.get(measure, 0) for walk in seen.shortened]
        if taken and (figure.least is None or min(taken) < figure.least):
            yield f"{measure}: {min(taken)} is less than {figure.least}"


def is_exact(seen: Seen, *, prolong: bool) -> bool:
    """Tell whether a flow is one in which some run must take just what is said."""
    if seen.entry.cycles or seen.entry.is_cut:
        return False
    return prolong or seen.plan.limits.executions is None or seen.plan.limits.reached is not Outcome.DONE


def find_unattained(seen: Seen, tally: Counter[str]) -> Iterator[str]:
    """Yield every figure that no run attains where one must, and count how the others were attained."""
    program = program_of(seen.plan)
    for prolong in (True, False):
        for measure in EXACT:
            figure: Figure = seen.entry.figures[measure]
            goal = figure.upper.most if prolong else figure.least
            way, walks = (figure.longest, seen.prolonged) if prolong else (figure.shortest, seen.shortened)
            case = (
                f"{'most' if prolong else 'least'} {measure}{'' if is_exact(seen, prolong=prolong) else ', not exact'}"
            )
            if goal is None:
                tally[f"{case}: none"] += 1
            elif way and Follower(program, way, prolong=prolong).follow(measure, goal) is not None:
                tally[f"{case}: by the way"] += 1
            elif any(walk.spent.get(measure, 0) == goal for walk in walks):
                tally[f"{case}: by another run"] += 1
            else:
                tally[f"{case}: by no run that was seen"] += 1
                if is_exact(seen, prolong=prolong):
                    yield f"{case}: no run takes {goal}"
