"""The completion tool of a node has another name.

## Runs in flight
A model that was asked before the change hands its result in by the old name. The node takes that for a call of an
unknown tool, and the result is lost.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "node {node} takes its result by {after}, and a model that was asked before hands it in by {before}",
    completion="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
