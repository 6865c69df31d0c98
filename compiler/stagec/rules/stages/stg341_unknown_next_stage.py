"""A stage is followed by one that does not exist.

## Why this matters
A run that takes this way has nowhere to go on. Mostly the stage was renamed, or its name is written in another letter
case: names are compared exactly.

## How to fix
Write the `id` of one of the pipeline's stages, or add the stage to `stages`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import report_missing, routes, rule


@rule(since="0.1", origin=("stage-definitions:next-unknown-stage",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    mentions = (
        (each, f"{quote(stage.name)} leads to {quote(each.name)}, but this pipeline has no such stage")
        for stage, case in routes(pipeline)
        for each in case.stages
    )
    yield from report_missing(pipeline, mentions)
