"""It is not known whether the schema of answers accepts all that it accepted.

## Runs in flight
stagec compares schemas keyword by keyword. It cannot show that the new schema accepts every old answer, and has found
none that it refuses. What is not known is not promised, so this counts as breaking.

## What to do
Look at the two schemas yourself, and accept the code with `--allow` if every old answer is still accepted.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_undecided
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "it is not known whether node {node} accepts all answers that it accepted", schema="added removed changed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node) and is_undecided(change, pair)
