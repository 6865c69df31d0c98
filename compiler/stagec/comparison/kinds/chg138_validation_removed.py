"""A node is not validated any more.

## Runs in flight
A run in flight may wait for a validator. Its answer means nothing to the new plan, and the run would wait for ever.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "node {node} is not validated any more, and a run in flight may wait for a validator", validation="removed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
