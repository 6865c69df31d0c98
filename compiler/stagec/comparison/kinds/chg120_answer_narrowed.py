"""The schema of answers refuses what it accepted.

## Runs in flight
A request keeps its key and its schema until it is answered, so a run in flight gets answers that satisfy the old
schema. stagec has found one that the new schema refuses. If it comes when the model has been asked for the last time,
the run fails.

## What to do
Accept the old answers as well, and narrow the schema when the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_narrowed
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("node {node} refuses answers that it accepted", schema="added removed changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_narrowed(change, pair)
