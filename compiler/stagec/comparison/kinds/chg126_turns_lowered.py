"""The limit of turns is lower.

## Runs in flight
A conversation in flight may have had as many turns as the new limit allows. Its attempt ends without a result.

## What to do
Keep the limit until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the limit of turns of node {node} is {after} and was {before}: a conversation in flight may be beyond it",
    turns="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_lowered(change.before, change.after)
