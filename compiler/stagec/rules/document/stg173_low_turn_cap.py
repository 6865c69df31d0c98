"""A stage may not take a single turn.

## Why this matters
`turnCap` is the most turns that the model may take in one attempt. With less than one the attempt ends before it
begins, and no result is ever handed in.

## How to fix
Write a whole number of at least 1. It is a safety net: choose it well above what the stage needs.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("Validation/StageTurnCapTooLow", "stage-definitions:turn-cap-too-low"))
