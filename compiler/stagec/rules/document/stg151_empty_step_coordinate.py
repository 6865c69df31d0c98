"""A coordinate of a step's prompt is empty.

## Why this matters
`c2`, `c3` and `edition` are parts of the path of the step's prompt. An empty one leads to another file or to none
(SR-VALID-004).

## How to fix
Write the coordinate. `edition` may be left out in 1.13: then it is `default`. An empty `adaptation`, which
1.14 refuses, is left out.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:step.c2-nonempty",
        "steps-registry:step.edition-nonempty",
        "climpt-1.14:step.adaptation-nonempty",
    ),
)
