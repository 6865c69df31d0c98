"""A reference to an output schema does not name a file and a schema in it.

## Why this matters
The output schema tells the model what to answer. Without both names it cannot be found, and the step's answer has no
shape.

## How to fix
Write an object with `file`, relative to the schemas folder, and `schema`, the name within the file.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__, since="0.1", origin=("steps-registry:reg.schemaref-shape", "steps-registry:gate.schema-load")
)
