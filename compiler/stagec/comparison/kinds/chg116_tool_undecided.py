"""It is not known whether a tool accepts all arguments that it accepted.

## Runs in flight
The plan has only the digest of a schema, or stagec cannot compare the two schemas. What is not known is not promised,
so this counts as breaking.

## What to do
Look at the two schemas yourself, and accept the code with `--allow` if every old call is still accepted.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_digest, is_undecided
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged(
    "it is not known whether tool {name} accepts all arguments that it accepted", tool_schema="added removed changed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return is_digest(change, pair) or is_undecided(change, pair)
