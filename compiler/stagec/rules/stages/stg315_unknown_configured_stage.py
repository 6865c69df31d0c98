"""The configuration of a state machine begins at a stage that does not exist.

## Why this matters
Its `entry` names the stage where runs begin. A host that attaches the machine finds no such stage.

## How to fix
Correct the name: names are compared exactly.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import report_missing, rule


@rule(since="0.1", origin=("stage-definitions:sm-config", "stage-definitions:entry-unknown"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    yield from report_missing(
        pipeline, ((each, f"there is no stage {quote(each.name)} to begin with") for each in pipeline.configured)
    )
