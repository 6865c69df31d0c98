"""A node refuses results of others that it accepted.

## Runs in flight
A run in flight may hold a result for this node, made before the change.

## What to do
Accept the old results as well.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_narrowed
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "node {node} refuses results that it accepted, and a run in flight may hold one for it",
    accepts="added removed changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_narrowed(change, pair)
