"""The validators of a node are other ones, or in another order.

## Runs in flight
A run in flight may wait for a validator. Its place is a number in the old list. Validators that are added behind all
others are compatible.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.core.json import list_of


@declare_judged(
    "the validators of node {node} are other ones or in another order, and a run in flight may wait for one of them",
    conditions="changed",
    preflight="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    before, after = list_of(change.before), list_of(change.after)
    return pair.is_reached(change.node) and after[: len(before)] != before
