"""A case is never taken, because earlier ones take all results that it is about.

## Why this matters
The first case that matches a result decides. Where this one stands, nothing is left that it could match, so the stages
in it are not run when its author expects it.

## How to fix
Put the case before those that are wider, narrow these down, or delete it. A case without `when` takes all that is left,
and belongs at the end.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.coverage import find_unreached_cases
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        for lost in find_unreached_cases(pipeline, stage):
            if lost.earlier:
                related = tuple(Related(each.at, "taken first") for each in lost.earlier[:_SHOWN])
                count = len(lost.earlier)
                who = "an earlier case takes" if count == 1 else f"{count} earlier cases take"
                message = f"stage {quote(stage.name)} never takes this case: {who} every result that fits it"
                yield Finding(lost.judged.at, message, related)
