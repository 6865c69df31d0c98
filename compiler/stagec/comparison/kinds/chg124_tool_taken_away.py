"""A tool is taken away from a node.

## Runs in flight
A model that was asked before the change knows the tool and may call it. The node does not allow the call any more.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "tool {name} is taken away from node {node}, and a run in flight may be calling it", node_tool="removed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
