"""The third coordinate of a step's prompt is not in lowercase words with hyphens.

## Why this matters
`c3` is a folder name. Folders of other forms are not found on every system, and the prompt configuration refuses
them.

## How to fix
Write lowercase letters, with single hyphens between words; digits and underscores are not allowed.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__, since="0.1", origin=("steps-registry:step.c3-kebab", "steps-registry:step.c3-nonempty", "SR-VALID-004")
)
