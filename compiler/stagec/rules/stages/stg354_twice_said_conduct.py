"""A pipeline and one of its stages say the same thing of the stage.

## Why this matters
`next`, `checks`, `gate` and `hooks` may stand in the pipeline or in the stage itself. In both places they can disagree,
and one of them is not followed.

## How to fix
Delete one of the two.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.by_id.values():
        for member, given, own in stage.conduct.twice:
            message = f"{quote(member)} of {quote(stage.name)} is said by the pipeline and by the stage itself"
            yield Finding(given.key, message, (Related(own.key, "said here"),))
