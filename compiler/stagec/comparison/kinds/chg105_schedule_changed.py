"""A schedule of conversations has changed.

## Runs in flight
Runs in flight have counted what each node still needs. Runs of processes count again when they are resumed; all
others do not.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "the schedule of entry {name} is another one now at node {node}, and runs in flight are in the middle of it",
    scheduled_node="added",
    needs="changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return not pair.runs_processes(change.name)
