"""A step has no name for people.

## Why this matters
Drawings, handbooks and logs show the name. Without one they show the id, which is legal and less helpful.

## How to fix
Give the step a `name` of a few words.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Severity, Tree, misshapen, rule


@rule(
    since="0.1",
    origin=("steps-registry:step.name-nonempty", "steps-registry:reg.step-required", "SR-VALID-004"),
    severity=Severity.NOTE,
)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "unnamed-step")
