"""No run of a random flow takes more or less than its bounds; where nothing repeats, the ways that they name take that.

`python -m properties.test_spending 1000` (with `tests` in the path) counts how the figures of 1,000 flows are attained.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from campaigns import choose
from properties.spending.check import find_broken, find_unattained, look
from properties.spending.flows import make_flow, make_orchestrator, make_schedule

from stagec.ir.plan import Plan

EFFORT = choose(75, whole=150)
"""Answers that are tried for each flow and case in a test run."""


def list_flows(number: int) -> Iterator[tuple[str, Plan]]:
    """Yield random flows of every kind: half of them repeat nothing."""
    for seed in range(number):
        kind = ("onward", "onward", "repeating", "stages", "onward", "repeating", "phases", "onward")[seed % 8]
        if kind == "stages":
            plan = make_schedule(seed)
        else:
            plan = make_orchestrator(seed) if kind == "phases" else make_flow(seed, onward=kind == "onward")
        yield f"{kind} {seed}", plan


class Checked(NamedTuple):
    """The figures that runs have broken, those that no run was seen to take where one should, and how all were met."""

    broken: list[str]
    unattained: list[str]
    tally: Counter[str]


def check(number: int, effort: int) -> Checked:
    """Compare the bounds of so many flows with their runs."""
    found = Checked([], [], Counter())
    for name, plan in list_flows(number):
        seen = look(plan, effort)
        found.broken.extend(f"{name}: {each}" for each in find_broken(seen))
        found.unattained.extend(f"{name}: {each}" for each in find_unattained(seen, found.tally))
    return found


def test_no_run_takes_more_or_less_and_the_ways_take_just_that() -> None:
    found = check(choose(7, whole=40), EFFORT)
    assert found.broken == []
    assert len(found.unattained) * 100 <= found.tally.total()  # the search for a run gives up at some time
    assert found.tally["most turns: by the way"]
    assert found.tally["least turns: by the way"]


if __name__ == "__main__":
    checked = check(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
    sys.stdout.write("".join(f"{each}\n" for each in (*checked.broken, *checked.unattained)))
    for key, times in sorted(checked.tally.items()):
        sys.stdout.write(f"{times:6} {key}\n")
