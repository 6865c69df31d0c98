"""A pipeline says what a stage does that it does not have.

## Why this matters
What is said under `next`, `checks`, `gate` or `hooks` for a name that no stage has is never followed, and the stage
that was meant is run without it.

## How to fix
Write the `id` of one of the pipeline's stages, or delete the entry.
"""

from collections.abc import Iterator

from stagec.core.place import Mention
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import report_missing, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    mentions = ((Mention(each.name, each.at.key), _sentence(each)) for each in pipeline.routed)
    yield from report_missing(pipeline, mentions)


def _sentence(mention: Mention) -> str:
    member = mention.at.pointer[-2]
    return f"{quote(member)} speaks of {quote(mention.name)}, but this pipeline has no such stage"
