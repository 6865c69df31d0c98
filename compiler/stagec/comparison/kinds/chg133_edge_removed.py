"""A way of an outcome is gone, and none certainly takes its place.

## Runs in flight
A run in flight may stand at this node, and end it with this outcome under the conditions of the old edge. stagec
finds no new edge that certainly takes it: one with the same outcome, without conditions that the old one had not.

## What to do
Keep an edge for the outcome, for example one without conditions behind all others.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import has_intent, is_covered


@declare_judged("node {node} has no certain way on {name} any more", edge="removed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    stands = pair.is_reached(change.node) and has_intent(change, pair)
    return stands and not is_covered(change, pair)
