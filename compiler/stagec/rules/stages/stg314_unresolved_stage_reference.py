"""A `$ref` in a schema of a stage or of the context leads to nothing.

## Why this matters
A schema with a missing part cannot be given to a model: the stage fails before its first turn.

## How to fix
Correct the file name or the pointer behind `#`. A `#` alone means the schema in which it is written, not the file, and
files are relative to the one in which they are named.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Miss
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_SENTENCES = {
    Miss.NO_FILE: "nothing: there is no such file",
    Miss.NO_MEMBER: "nothing: the schema has no such part",
    Miss.NO_SCHEMA: "what is no schema",
}


@rule(since="0.1", origin=("stage-definitions:completion-schema-ref", "rulings:R20"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in pipeline.references:
        if isinstance(each.found, Miss) and each.found in _SENTENCES:
            yield Finding(each.at, f"reference {quote(each.text)} leads to {_SENTENCES[each.found]}")
