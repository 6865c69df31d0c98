"""A failure pattern lacks what leads to its retry prompt, or says it in the wrong type.

## Why this matters
When a validator fails, its failure pattern chooses the prompt with which the work is retried. Without an edition
there is no prompt to retry with.

## How to fix
Give the pattern a `description` and an `edition`; `params` is a list of names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:reg.failurepattern-required",))
