"""A step or an agent asks for a model that does not exist.

## Why this matters
Models are named by their family; a run with any other name cannot be started or answers with another model than
meant.

## How to fix
Write `sonnet`, `opus` or `haiku`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:reg.model-enum", "steps-registry:reg.step-types"))
