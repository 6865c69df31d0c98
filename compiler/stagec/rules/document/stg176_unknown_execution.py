"""A route runs its stages in a way that does not exist.

## Why this matters
Several stages run one after the other, or all together. Any other word leaves open which is meant.

## How to fix
Write `sequential` or `parallel`; `terminate` ends the run and stands beside no stages.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("stage-definitions:execution-enum",))
