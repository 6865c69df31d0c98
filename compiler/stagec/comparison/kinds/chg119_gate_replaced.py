"""The gate of a node is of another kind.

## Runs in flight
A run in flight may wait for an answer that only the old gate can read.

## What to do
Add a node with another name.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("the gate of node {node} is of another kind: {after} in place of {before}", gate="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
