"""A member of a stage definition has a value of the wrong type.

## Why this matters
What has the wrong type is not read, so the stage would run without its tools, its schema or its limit. YAML decides
types by how a value looks: `name: 5` is a number, and a tool list without brackets or dashes is a text.

## How to fix
Write a value of the type that the message names. Quote a text that looks like a number.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "stage-definitions:allowed-tools-type",
        "stage-definitions:turn-cap-type",
        "stage-definitions:completion-schema-root",
    ),
)
