"""An edge no longer opens the schedule that it opened.

## Runs in flight
A run in flight may be inside the schedule. Its branches have no meaning outside of it.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import leads_to_schedule


@declare_judged(
    "the edge of node {node} on {name} opened a schedule, and a run in flight may be in it", edge="changed removed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and leads_to_schedule(change, pair)
