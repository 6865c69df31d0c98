"""A schema accepts the same in other words, or no run reaches its node.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import text_in_change
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair

_ANY = "added removed changed"


@declare_judged("a schema says the same otherwise", schema=_ANY, accepts=_ANY, input_schema=_ANY, tool_schema=_ANY)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    old, new = (text_in_change(each) for each in (change.before, change.after))
    if pair.compare_schemas(old, new).holds is not True:
        return True  # what refuses values was told before, unless no run reaches the node
    return not pair.is_widened(old, new)
