"""A placeholder reads the attempts of its own stage.

## Why this matters
The prompt is made once, before the first attempt, and is not made again when the work is tried once more. Whatever the
placeholder stood for would always be about the first attempt.

## How to fix
Delete it: why an attempt was not accepted is told to the model in a further message.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-ctx-attempts",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.ATTEMPTS):
        message = (
            f"placeholder {quote(each.placeholder.text)} reads attempts, but a prompt is made before the first one"
        )
        yield Finding(each.placeholder.at, message, relate_repeated(each))
