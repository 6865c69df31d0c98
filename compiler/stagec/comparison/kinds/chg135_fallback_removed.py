"""Nothing runs in the place of a node that cannot start.

## Runs in flight
A run in flight that stands at this node may come to one that cannot start with what the run has. It fails, where
another node ran before.

## What to do
Keep the fallback until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import loses_fallback


@declare_judged(
    "nothing runs in the place of what follows node {node} on {name} when that cannot start", edge="changed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and loses_fallback(change, pair)
