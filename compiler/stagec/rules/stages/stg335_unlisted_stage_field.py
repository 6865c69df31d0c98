"""A prompt reads a field of its stage that prompts are not promised.

## Why this matters
Of the frontmatter, only `id` and `name` are documented to be readable in a prompt. Another runtime may not fill in the
rest.

## How to fix
Write what the model has to know into the prompt itself.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:stage-ref-unknown",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.UNLISTED_FIELD):
        what = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}"
        message = f"{what}, but only 'stage.id' and 'stage.name' are promised to prompts"
        yield Finding(each.placeholder.at, message, relate_repeated(each))
