"""Fewer transitions are allowed.

## Runs in flight
A run in flight may have had more transitions than the new limit allows, and ends at once.

## What to do
Keep the limit until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "{after} transitions are allowed, and {before} were: a run in flight may be beyond that",
    transitions="added changed",
    transitions_in_a_row="added changed",
)
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    return is_lowered(change.before, change.after)
