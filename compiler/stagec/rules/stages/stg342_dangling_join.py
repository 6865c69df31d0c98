"""The join of parallel stages is no stage of the pipeline.

## Why this matters
Parallel stages hand their results to the stage named by `join`, which runs when all of them have succeeded. Without
that stage the results are lost. Hosts refuse such a pipeline when they load it, as `StageJoinDangling`.

The document that defines this code says that the join must be one of `stages`; its own example, and every pipeline
written by the same authors, has the join outside. A join among its siblings would run twice, so stagec reads the
sentence as "must be a stage of the pipeline", and refuses the other ([STG343](STG343.md)).

## How to fix
Write the `id` of one of the pipeline's stages, or add the stage.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import report_missing, routes, rule


@rule(since="0.1", origin=("stage-definitions:join-dangling", "Validation/StageJoinDangling"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    mentions = (
        (case.join, f"{quote(stage.name)} joins in {quote(case.join.name)}, which is no stage here (StageJoinDangling)")
        for stage, case in routes(pipeline)
        if case.join is not None and case.mode is Mode.FORK
    )
    yield from report_missing(pipeline, mentions)
