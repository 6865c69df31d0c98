"""Fewer failures of a validation are allowed.

## Runs in flight
The validation of a run in flight may have failed as often as the new limit allows. Its next failure ends the run.

## What to do
Keep the limit until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the validation of node {node} may fail {after} times in a row, and could {before} times",
    validation_attempts="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)
