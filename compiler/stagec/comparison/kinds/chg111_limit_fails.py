"""A run that reaches the limit of node executions fails, where it was done before.

## Runs in flight
A run in flight that would have ended as done at the limit ends as failed.

## What to do
Keep the old end until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("a run that reaches the limit of node executions fails now, and was done before", reached="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return change.after == "failed" and pair.old.limits.executions is not None
