"""A step has no name for people.

## Why this matters
Drawings, handbooks and logs show the name. Without one they show the id, which is legal and less helpful.

## How to fix
Give the step a `name` of a few words.
"""

from stagec.core.diagnostic import Severity
from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:step.name-nonempty", "steps-registry:reg.step-required", "SR-VALID-004"),
    severity=Severity.NOTE,
)
