"""A step has a kind that does not exist.

## Why this matters
The kind decides which intents a step may answer. A step of an unknown kind may answer none, and some runners stop
with an internal error.

## How to fix
Write `work`, `verification` or `closure`, or leave the member out: then the kind follows from `c2`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:reg.stepkind-enum", "steps-registry:reg.step-types"))
