"""A stage is named twice among those that run in parallel.

## Why this matters
Two executions of one stage with nothing different between them do the same work at the same time, and get in each
other's way when they write. Mostly another stage was meant.

## How to fix
Name the stage that was meant, or delete the repetition.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:parallel-duplicate-sibling",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage, case in routes(pipeline):
        known: dict[str, Mention] = {}
        for each in case.stages if case.mode is Mode.FORK else ():
            first = known.setdefault(each.name, each)
            if first is not each:
                what = f"{quote(each.name)} is already one of the stages that run in parallel"
                yield Finding(each.at, f"{what} after {quote(stage.name)}", (Related(first.at, "named here"),))
