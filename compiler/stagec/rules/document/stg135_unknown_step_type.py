"""A step has a type that does not exist.

## Why this matters
There is one type of step, `prompt`. A step of any other is refused before the run begins.

## How to fix
Write `prompt`, or leave the member out.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:reg.step-type-enum", "steps-registry:reg.step-types"))
