"""A prompt reads something that its stage does not say of itself.

## Why this matters
Under `stage` a prompt can read the frontmatter of its own file. What is not there cannot be filled in, so the stage
cannot start.

## How to fix
Correct the name. A prompt can rely on `stage.id` and `stage.name`.
"""

from collections.abc import Iterator

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
        near = _near(pipeline, each.stage, each.placeholder)
        yield Finding(each.placeholder.at, f"{message} {quote(_field(each.placeholder))}{near}", relate_repeated(each))


def _field(placeholder: Placeholder) -> str:
    return placeholder.text.strip("{} \t\r\n").removeprefix("stage.")


def _near(pipeline: Pipeline, stage: Stage, placeholder: Placeholder) -> str:
    name = str(placeholder.path[1])
    known = pipeline.memo.once(("fields", stage.at), lambda: NameIndex(stage.members))
    return hint(name, known) if name not in known else ""
