"""A node at which runs in flight can be is gone.

## Runs in flight
A run in flight may be at this node, or wait to begin it in a fork or a chain.

## What to do
Keep the node, without a way to it if it is not needed any more, until the runs in flight have ended. A node that was
renamed is another node.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("node {node} is gone, and a run in flight may be at it", node="removed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
