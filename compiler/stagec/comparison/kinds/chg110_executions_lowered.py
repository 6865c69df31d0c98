"""The limit of node executions is lower.

## Runs in flight
A run in flight may have had more executions than the new limit allows, and ends at once. Where the old plan proves
that no run has so many, the change is compatible.

## What to do
Keep the limit until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the limit of node executions is {after} and was {before}: a run in flight may be beyond it",
    executions="added changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    facts = pair.old.facts
    proved = None if facts is None else facts.executions
    return is_lowered(change.before, change.after) and is_lowered(proved, change.after)
