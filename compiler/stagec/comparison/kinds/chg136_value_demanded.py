"""A variable must not be empty any more.

## Runs in flight
The input or the carried value of a run in flight may be empty. The node cannot start with it.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("node {node} needs a value for {name}, which may be empty in a run in flight", needed="added")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return change.name in getattr(pair.nodes_of(change.node)[0].act, "variables", {})
