"""An intent is not allowed any more.

## Runs in flight
A model that was asked before the change may answer with this intent. Without an allowed intent the run fails.

## What to do
Keep the intent, with an edge, until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import falls_back


@declare_judged(
    "node {node} does not know the intent {name} any more, and an answer on its way may have it", intent="removed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and not falls_back(pair.nodes_of(change.node)[1].gate)
