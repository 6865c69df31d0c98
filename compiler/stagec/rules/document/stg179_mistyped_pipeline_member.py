"""A member of a pipeline has a value of the wrong type.

## Why this matters
What has the wrong type is not read. The pipeline would run without its routes, its limits or its context.

## How to fix
Write a value of the type that the message names. A version is quoted, since YAML takes `1.0` for a number.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("stage-definitions:sm-config", "rulings:pipelines"))
