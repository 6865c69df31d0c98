"""The gate of a stage is not written as one.

## Why this matters
A gate says under which conditions on the context a stage is put off (`defer`) or not run (`block`). Written otherwise
it holds nothing back.

## How to fix
Write `defer`, `block` or both, each with conditions.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("rulings:pipelines",))
