"""A placeholder reads the host.

## Why this matters
`ctx.host` is an interface for code. It has no text that could stand in a prompt.

## How to fix
Let a setup hook ask the host and put the answer into the context under a name of its own.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-ctx-host",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.HOST):
        message = f"placeholder {quote(each.placeholder.text)} reads the host, which only code can"
        yield Finding(each.placeholder.at, message, relate_repeated(each))
