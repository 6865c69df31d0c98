"""A case or a check asks for something that the completion schema does not declare.

## Why this matters
The schema is open, so the stage may hand it in, but nothing asks the model for it. What comes by chance decides where
the run goes; often the path is only misspelt.

## How to fix
Correct the path, or declare the member in the completion schema, and require it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import (
    ConditionError,
    ConditionMistake,
    find_wrong_cases,
    find_wrong_checks,
)
from stagec.frontends.stages.coverage import find_uncovered
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import asking, contradiction, elsewhere, grounds, rule


@rule(since="0.1", origin=("rulings:pipelines",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_cases(pipeline):
        if find_uncovered(pipeline, each.stage) is None:
            yield from _say(pipeline, each, "a case")
    for each in find_wrong_checks(pipeline):
        yield from _say(pipeline, each, "a check")


def _say(pipeline: Pipeline, each: ConditionMistake, what: str) -> Iterator[Finding]:
    found = each.wrong
    if found.kind is ConditionError.UNDECLARED:
        message = f"{what} of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
        yield Finding(found.at, message, tuple(elsewhere(each)), causes=grounds(pipeline, each.stage))
