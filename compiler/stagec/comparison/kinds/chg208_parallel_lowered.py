"""Fewer nodes run at the same time.

## Runs in flight
Running nodes continue. The next node begins when there is room.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_lowered
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("{after} nodes may run at the same time, and {before} before", parallel="changed")
def judge(change: PlanChange, _pair: PlanPair) -> bool | str:
    return is_lowered(change.before, change.after)
