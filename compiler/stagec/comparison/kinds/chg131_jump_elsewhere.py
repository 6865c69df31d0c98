"""The target of a jump is in another place of the answer.

## Runs in flight
A model that was asked before the change answers as it was asked, and its jump leads nowhere.

## What to do
Add a node with another name.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import jumps


@declare_judged(
    "node {node} reads the node to jump to at {after}, and an answer on its way names it at {before}",
    target_field="changed removed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and jumps(pair, change.node)
