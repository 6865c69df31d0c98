"""An input has become required.

## Runs in flight
A run in flight may have begun without this input.

## What to do
Give the input a default. A run can continue with a value from `stagec resume --plan NEW --input NAME=VALUE`.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("input {name} has become required, and runs in flight may not have it", input_required="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    wanted, known = pair.new.inputs[change.name], pair.old.inputs[change.name]
    return wanted.required and wanted.default is None and known.default is None
