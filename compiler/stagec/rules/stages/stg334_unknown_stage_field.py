"""A prompt reads something that its stage does not say of itself.

## Why this matters
Under `stage` a prompt can read the frontmatter of its own file. What is not there cannot be filled in, so the stage
cannot start.

## How to fix
Correct the name. A prompt can rely on `stage.id` and `stage.name`.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Placeholder, Stage
from stagec.frontends.stages.placeholder_errors import PlaceholderError, find_wrong_placeholders
from stagec.rules.stages import relate_repeated, rule


@rule(since="0.1", origin=("stage-definitions:stage-ref-unknown",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_placeholders(pipeline, PlaceholderError.STAGE_FIELD):
        message = f"stage {quote(each.stage.name)} reads {quote(each.placeholder.text)}, but its frontmatter has no"
        name = str(each.placeholder.path[1])
        known = _index_fields(pipeline, each.stage)
        near = hint(name, known) if name not in known else ""
        message = f"{message} {quote(_field(each.placeholder))}{near}"
        yield Finding(each.placeholder.at, message, relate_repeated(each), guess(name, known))


def _field(placeholder: Placeholder) -> str:
    return placeholder.text.strip("{} \t\r\n").removeprefix("stage.")


def _index_fields(pipeline: Pipeline, stage: Stage) -> NameIndex:
    return pipeline.memo.once(("fields", stage.at), lambda: NameIndex(stage.members))
