"""A stage is to run in parallel with others and to join them as well.

## Why this matters
The join starts when all parallel stages have succeeded. A stage that is one of them would run twice, the first time
without the results it is there to judge.

## How to fix
Take the stage out of `stages`; if it was meant to run beside the others, name another stage as `join`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:join-is-sibling",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage, case in routes(pipeline):
        join = case.join
        if join is None or case.mode is not Mode.FORK:
            continue
        same = [each for each in case.stages if each.name == join.name]
        if same:
            what = f"{quote(join.name)} joins the parallel stages after {quote(stage.name)}"
            related = (Related(same[0].at, "one of the parallel stages"),)
            yield Finding(join.at, f"{what}, but it is one of them and would run twice", related)
