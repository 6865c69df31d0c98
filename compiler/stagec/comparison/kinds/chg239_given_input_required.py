"""An input that every run in flight was given became required.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("input {name} must be given now, and runs in flight have it", input_required="changed")
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    return change.after is True
