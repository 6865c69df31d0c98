"""An answer without an allowed intent fails the run, where it had a fallback.

## Runs in flight
A model that was asked before the change may answer without an allowed intent.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import falls_back


@declare_judged(
    "node {node} fails on an answer without an allowed intent, which had a fallback",
    fail_fast="changed",
    fallback="removed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    before, after = (each.gate for each in pair.nodes_of(change.node))
    return pair.is_reached(change.node) and falls_back(before) and not falls_back(after)
