"""A node is another one that no run of the old plan can reach.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "node {node} is another one, and no run reaches it",
    act="changed",
    gate="changed",
    completion="changed",
    node_tool="removed",
    validation="removed",
    turns="changed",
    attempts="changed",
    validation_attempts="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return not pair.is_reached(change.node)
