"""A tool refuses arguments that it accepted.

## Runs in flight
A model may have seen the old schema, and a call that it asked for may still wait.

## What to do
Accept the old arguments as well, or add another tool.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.judging import is_digest, is_narrowed
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("tool {name} refuses arguments that it accepted", tool_schema="added removed changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return not is_digest(change, pair) and is_narrowed(change, pair)
