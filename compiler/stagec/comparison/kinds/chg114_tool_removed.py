"""A tool is gone from the plan.

## Runs in flight
A node of the old plan uses this tool. A run in flight may have asked for a call of it that nobody has answered.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.plan.act import Converse, Prompt


@declare_judged("tool {name} is gone, and a run in flight may be calling it", tool="removed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    acts = [pair.old.nodes[each].act for each in pair.reached]
    return any(change.name in (each.tools or ()) for each in acts if isinstance(each, Prompt | Converse))
