"""A join is named where no stages run in parallel.

## Why this matters
`join` says which stage waits for parallel stages. Without `execution: parallel` it is not read, and the stage that it
names does not run.

## How to fix
Write `execution: parallel`, or delete `join`; a stage that is to follow another one goes into the `next` of that one.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:join-on-sequential",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage, case in routes(pipeline):
        if case.join is None or case.mode is None or not case.is_whole:
            continue
        if case.mode is not Mode.FORK or not case.stages:
            message = f"join {quote(case.join.name)} after {quote(stage.name)} has no effect"
            yield Finding(case.join.at.key, f"{message}: nothing runs in parallel before it")
