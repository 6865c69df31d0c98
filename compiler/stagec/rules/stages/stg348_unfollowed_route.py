"""A stage that only runs in parallel with others says what comes after it.

## Why this matters
After parallel stages their join runs, whatever each of them says under `next`. Only a branch of recovery is followed:
cases for `verdict: fail`, which lead to stages that end.

## How to fix
Move the route to the join, or delete it. A route that is meant for failures needs `when: {verdict: fail}`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import IncomingKind, Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:parallel-sibling-next",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    ignored = ((stage, case) for stage in pipeline.by_id.values() for case in pipeline.dead_cases(stage))
    for stage, case in ignored if pipeline.is_declared else ():
        if not case.stages:
            continue
        ways = [way for way in pipeline.incoming[stage.name] if way.kind is IncomingKind.SIBLING]
        target = case.stages[0]
        if not pipeline.has_stage(target.name):
            continue  # that there is no such stage is told, and comes first
        what = f"{quote(stage.name)} runs only in parallel with others"
        related = (Related(ways[0].at, "runs in parallel here"),)
        yield Finding(case.at, f"{what}: its way on to {quote(target.name)} is not taken", related)
