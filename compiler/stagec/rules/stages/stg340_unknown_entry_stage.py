"""A pipeline begins at a stage that does not exist.

## Why this matters
No run can start. Mostly the stage was renamed, or the name is written in another letter case: names are compared
exactly.

## How to fix
Write the `id` of one of the pipeline's stages as `entry`, or add the stage.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import report_missing, rule


@rule(since="0.1", origin=("stage-definitions:entry-unknown", "Validation/StageDefinitionInvalid"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    entry = pipeline.entry
    if entry is not None:
        sentence = f"runs begin at {quote(entry.name)}, but this pipeline has no such stage"
        yield from report_missing(pipeline, [(entry, sentence)])
