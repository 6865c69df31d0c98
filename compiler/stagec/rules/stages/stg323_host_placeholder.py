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
from stagec.frontends.stages.slips import Slip, slipped
from stagec.rules.stages import repeated, rule


@rule(since="0.1", origin=("stage-definitions:placeholder-ctx-host",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in slipped(pipeline, Slip.HOST):
        message = f"placeholder {quote(each.placeholder.text)} reads the host, which only code can"
        yield Finding(each.placeholder.at, message, repeated(each))
