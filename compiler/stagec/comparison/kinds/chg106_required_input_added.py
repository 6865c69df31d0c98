"""A new input is required.

## Runs in flight
A run in flight was begun without this input, and a node that uses it cannot start.

## What to do
Give the input a default. A run can continue with a value from `stagec resume --plan NEW --input NAME=VALUE`.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("input {name} is required, and runs in flight do not have it", input="added")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    wanted = pair.new.inputs[change.name]
    return wanted.required and wanted.default is None
