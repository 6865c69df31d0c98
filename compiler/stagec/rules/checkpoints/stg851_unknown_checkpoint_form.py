"""A manifest has a form that this version of stagec does not know.

## Why this matters

A later version of the form may mean something else by the same members. Nothing else in the manifest is judged.

## How to fix

Use the version of stagec that has written the checkpoint, or a later one.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.protocol.checkpoint import JudgedCheckpoint
from stagec.rules.checkpoints import report, rule


@rule(since="0.1", origin=("stagec:checkpoints",))
def check(checkpoint: JudgedCheckpoint) -> Iterator[Finding]:
    yield from report(
        checkpoint, "unknown-checkpoint-form", "the form is {found}; this version of stagec reads {known}"
    )
