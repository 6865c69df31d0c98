"""No result satisfies the completion schema of a stage.

## Why this matters
A stage is done when it hands in a result that satisfies its schema. Where two parts of the schema exclude each other,
every result is refused, until the stage runs out of turns and fails.

## How to fix
Change the part that is shown, or the one that contradicts it: a bound that is higher than another, a value of another
type, a member that is required and forbidden.
"""

from collections.abc import Iterator

from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import emptiness_of
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import grounds, rule


@rule(since="0.1", origin=("stage-definitions:completion-schema-invalid",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        found = emptiness_of(pipeline, stage)
        if found is not None:
            why = f": nothing can be its {quote(spell_path(found.path))}" if found.path else ""
            related = () if found.against is None else (Related(found.against, "this contradicts it"),)
            message = f"no result of stage {quote(stage.name)} satisfies its schema{why}"
            causes = grounds(pipeline, stage)
            yield Finding(found.at, message, related, causes=causes, spoils=causes)
