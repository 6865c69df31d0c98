"""An edge is taken in the place of another one in some cases.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import is_first


@declare_judged("node {node} leads elsewhere on {name} in some cases", edge="added", edge_order="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return change.topic == "edge-order" or is_first(change, pair)
