"""A number is smaller or larger than its member allows.

## Why this matters
A limit of zero or less ends a run before its first step, or is ignored; either way the run is not bounded as its
author meant.

## How to fix
Write a number within the limits that the message names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:agent.schema", "steps-registry:doc.R-F20"))
