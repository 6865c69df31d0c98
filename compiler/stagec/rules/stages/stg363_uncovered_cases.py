"""A stage can succeed with a result that no case matches.

## Why this matters
When a stage has succeeded, or was skipped, some case has to say what runs next. Where none matches, the run fails
although nothing went wrong. Cases without `verdict` are about such results; a failure needs no case, it ends the run.

## How to fix
End the list with a case without `when`, or write cases for every value that the completion schema leaves: require what
you choose by at every level, and give it an `enum` or `type: boolean`.
"""

from collections.abc import Iterator

from stagec.contract.schemas import Schema
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import find_wrong_cases
from stagec.frontends.stages.coverage import Uncovered, find_uncovered
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import contradiction, grounds, rule, show_value


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        found = find_uncovered(pipeline, stage)
        if found is not None:
            at = stage.conduct.next_at or stage.at
            related = tuple(_relate(pipeline, stage))
            yield Finding(at, _sentence(stage, found), related, causes=grounds(pipeline, stage))


def _relate(pipeline: Pipeline, stage: Stage) -> Iterator[Related]:
    for each in (wrong.wrong for wrong in find_wrong_cases(pipeline) if wrong.stage is stage):
        yield Related(each.at.key, contradiction(each))
    if isinstance(stage.result, Schema):
        yield Related(stage.result.at, "the completion schema")


def _sentence(stage: Stage, found: Uncovered) -> str:
    if found.example is None:
        return f"stage {quote(stage.name)} chooses by so much that it cannot be shown that some case always matches"
    *others, last = [*_describe(found)] or ["whatever it is"]
    example = f"{', '.join(others)} and {last}" if others else last
    if found.exact:
        return f"stage {quote(stage.name)} can have a result that no case matches: {example}"
    every = f"every result of stage {quote(stage.name)}"
    return f"it cannot be shown that {every} matches a case, such as one where {example}"


def _describe(found: Uncovered) -> Iterator[str]:
    for path, standing in (found.example or {}).items():
        given = f"is {show_value(standing.given)}" if standing.asked or standing.exemplary else "has another value"
        yield f"{quote('.'.join(path))} {given if standing.present else 'is left out'}"
