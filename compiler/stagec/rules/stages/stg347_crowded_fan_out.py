"""More stages are to run in parallel than may run at the same time.

## Why this matters
This is allowed: the stages that find no room wait until another one has ended, in the order in which they are named.
But the run takes longer than it looks.

## How to fix
Raise `maxParallel` if the machine and the provider bear it; it is 4 where the pipeline does not say.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:parallel-over-cap",), severity=Severity.NOTE)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    most = pipeline.max_parallel
    if pipeline.body.get("maxParallel", most) != most:
        return  # what is written there cannot be read
    related = (Related(pipeline.at / "maxParallel", "the limit"),) if "maxParallel" in pipeline.body else ()
    for stage, case in routes(pipeline):
        count = len({each.name for each in case.stages})
        if case.mode is Mode.FORK and count > most:
            message = f"{count} stages run in parallel after {quote(stage.name)}, but only {most} at the same time"
            yield Finding(case.at, message, related)
