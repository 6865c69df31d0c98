"""The limit of attempts is lower.

## Runs in flight
An execution in flight may be in an attempt that the new limit does not allow, and gives up where it would have tried
again.

## What to do
Keep the limit until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the limit of attempts of node {node} is {after} and was {before}: an execution in flight may be beyond it",
    attempts="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)
