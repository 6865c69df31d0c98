"""A jump does not lead to every node to which it led.

## Runs in flight
A model that was asked before the change may name a node that is not among the new ones.

## What to do
Keep the names that answers may give.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import is_covered


@declare_judged("node {node} cannot jump on {name} to every node to which it could", edge="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and not is_covered(change, pair)
