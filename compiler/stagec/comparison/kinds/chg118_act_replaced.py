"""A node does something of another kind.

## Runs in flight
A run in flight may have asked for what the old node does. The answer means nothing to the new one.

## What to do
Add a node with another name for the new work.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("node {node} does something else: {after} in place of {before}", act="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
