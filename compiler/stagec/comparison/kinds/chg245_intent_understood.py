"""An intent is new, and an answer with it had a fallback.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import falls_back


@declare_judged("node {node} takes an answer with {name} as that, and as one without intent before", intent="added")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and falls_back(pair.nodes_of(change.node)[0].gate)
