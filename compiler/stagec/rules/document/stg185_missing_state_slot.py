"""A state machine has no state slot.

## Why this matters
Every state machine declares what it keeps between turns, its name and schema; a host refuses one that does not.

## How to fix
Write `stateSlot` with `slotVersion` and `schema`. A file that is a pipeline and no manifest of a state machine needs
neither `stateSlot` nor `kind`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("stage-definitions:sm-state-slot",))
