"""A member of a stage definition that must say something is empty.

## Why this matters
An empty id cannot be named by a pipeline, and an empty tool name is no tool's. An empty list of tools is something
else: it says that the stage may call none.

## How to fix
Write the text, or remove it where it is one of a list.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "stage-definitions:id-type",
        "stage-definitions:completion-tool-type",
        "stage-definitions:allowed-tools-duplicate",
    ),
)
