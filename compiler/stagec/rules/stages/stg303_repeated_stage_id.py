"""Two stages of a pipeline have the same id.

## Why this matters
A route that names the id means one of them, and which cannot be told.

## How to fix
Give one of them another id. If it is the same stage in two files, list only one.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:id-duplicate", "Validation/StageDefinitionInvalid"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    first: dict[str, Stage] = {}
    for stage in pipeline.stages if pipeline.is_declared else ():
        other = first.setdefault(stage.id, stage) if stage.id is not None else stage
        if other is not stage:
            message = f"two stages have the id {quote(stage.id)}"
            yield Finding(stage.id_at, message, (Related(other.id_at, "the other one"),))
