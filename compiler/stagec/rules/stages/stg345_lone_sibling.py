"""Only one stage is to run in parallel.

## Why this matters
There is nothing that it could run beside. Hosts refuse such a plan when the run gets there, as `InvalidParallelPlan`.
Most often a second stage was lost, or `execution: parallel` was left over.

## How to fix
Name the stages that run together, or write `execution: sequential`, and what was the join into the `next` of the stage.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:parallel-too-few", "ExtensionHost/InvalidParallelPlan"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage, case in routes(pipeline):
        if case.mode is Mode.FORK and case.is_whole and len(case.stages) == 1:
            only = case.stages[0]
            message = f"{quote(stage.name)} runs only {quote(only.name)} in parallel; there must be two stages at least"
            yield Finding(only.at, message)
