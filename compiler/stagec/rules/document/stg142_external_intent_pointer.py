"""A gate looks for its intents outside the step's own schema.

## Why this matters
The pointer is followed inside the output schema of the step. One that begins with a file name, or without `#/`, leads
nowhere.

## How to fix
Write a pointer that begins with `#/`. Share definitions through `$ref` inside the schema.
"""

from collections.abc import Iterator

from stagec.rules.document import Finding, Tree, misshapen, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:reg.gate-ref-pattern",
        "steps-registry:gate.ref-internal",
        "steps-registry:gate.ref-missing",
    ),
)
def check(tree: Tree) -> Iterator[Finding]:
    yield from misshapen(tree, "external-intent-pointer")
