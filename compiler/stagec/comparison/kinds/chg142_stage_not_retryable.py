"""A stage is not retryable any more.

## Runs in flight
A run in flight that has begun this stage is blocked when it is resumed, until somebody consents that the stage runs
again.

## What to do
Resume with `--consent`, or keep the stage retryable until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("stage {node} is not retryable any more, and a run in flight may have begun it", retryable="changed")
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    return change.before is True
