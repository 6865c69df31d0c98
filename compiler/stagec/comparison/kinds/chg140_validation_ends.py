"""A failed validation ends the run, which continued before.

## Runs in flight
Under the old plan, a run whose validation fails tries again or continues. Under the new plan it ends. Failures before
the change count towards the attempts of the new plan.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("a failed validation of node {node} ends the run, which continued before", validation_action="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    goes_on = change.before == "abort" or change.after == "skip"  # no more of it ends than before
    return pair.is_reached(change.node) and not goes_on
