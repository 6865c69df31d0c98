"""The limit of node executions is lower, and no run of the old plan can be beyond it.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the limit of node executions is {after}, and no run in flight can be beyond it", executions="added changed"
)
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    return is_lowered(change.before, change.after)
