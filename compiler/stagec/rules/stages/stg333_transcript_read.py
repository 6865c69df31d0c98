"""A prompt reads the transcript of another stage.

## Why this matters
The conversation of a stage is dropped when the stage ends, and never comes to another one: no such value is there.

## How to fix
Ask the stage to hand in what the next one needs, as a member of its `completionSchema`, or let its exit hook write a
summary to `output`, which is read as `{{ctx.upstream[0].output.summary}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:upstream-transcript",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.TRANSCRIPT):
        message = f"placeholder {quote(each.placeholder.text)} reads a transcript, which never leaves its stage"
        yield Finding(each.placeholder.at, message, relate_repeated(each))
