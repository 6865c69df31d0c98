"""A coordinate of a step's prompt is empty.

## Why this matters
`c2`, `c3` and `edition` are parts of the path of the step's prompt. An empty one leads to another file or to none
(SR-VALID-004).

## How to fix
Write the coordinate. `edition` may be left out: then it is `default`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:step.c2-nonempty",
        "steps-registry:step.edition-nonempty",
    ),
)
