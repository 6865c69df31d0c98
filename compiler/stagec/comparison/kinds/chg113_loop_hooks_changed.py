"""The callables at a slot of the message loop are other ones.

## Runs in flight
A run in flight may wait for one of the callables. Its place is a number in the old list. Callables that are added
behind all others of the old list are compatible.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.core.json import list_of


@declare_judged(
    "the callables at {name} are other ones now, and a run in flight may wait for one of them",
    loop_hooks="changed removed",
)
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    before, after = list_of(change.before), list_of(change.after)
    return after[: len(before)] != before
