"""A placeholder reads the environment or the settings.

## Why this matters
They hold secrets, and a prompt is sent to a model. Neither is recognised in a prompt, so the stage cannot start.

## How to fix
Hand over what the stage needs to know as a value of the context, and read it as `{{ctx.name}}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-env",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.ENVIRONMENT):
        what = "the environment" if each.placeholder.path[0] == "env" else "the settings"
        message = f"placeholder {quote(each.placeholder.text)} reads {what}, which no prompt can"
        yield Finding(each.placeholder.at, message, relate_repeated(each))
