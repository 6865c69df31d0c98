"""A placeholder is more than a path.

## Why this matters
Prompts are filled in, not computed: there are no conditions, loops, filters, defaults, calls or literals. What decides
anything belongs into the pipeline, where it can be checked.

## How to fix
Write a path, such as `{{ctx.task}}`. Where the prompt depends on something, make two stages of it and let the cases of
the stage before choose between them.

For two opening braces that stay as they are, for example in code, write `{{"{{"}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-expression",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.EXPRESSION):
        message = f"placeholder {quote(each.placeholder.text)} is an expression; a placeholder can only be a path"
        yield Finding(each.placeholder.at, message, relate_repeated(each))
