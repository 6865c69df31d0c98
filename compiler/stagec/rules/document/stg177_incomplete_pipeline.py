"""A pipeline does not say once and clearly where runs begin.

## Why this matters
`entry` names the stage where every run begins. Without it nothing of the pipeline can be run, and with its other name
`entryStage` beside it there are two answers. The same holds for the `entry` of a configuration.

## How to fix
Write `entry` with the id of the first stage. Keep one of the two names.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("stage-definitions:entry-unknown", "stage-definitions:sm-config", "rulings:pipelines"),
)
