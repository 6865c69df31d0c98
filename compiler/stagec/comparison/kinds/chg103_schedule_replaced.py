"""An entry no longer begins a schedule.

## Runs in flight
A run in flight is inside the schedule. Its branches have no meaning outside of it.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.plan.node import Schedule


@declare_judged("entry {name} began a schedule and begins something else now", entry="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return isinstance(pair.old.entries[change.name], Schedule)
