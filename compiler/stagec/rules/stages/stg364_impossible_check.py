"""A check can never decide anything.

## Why this matters
Checks judge the work of a stage by what it handed in, by `capHit` and by `attemptCount`; the first that matches
decides. This one asks for what can never be there, or earlier ones decide all that it is about. Work that it was meant
to refuse is accepted.

## How to fix
Write path and value as the completion schema has them. The verdict, its reason and the output are made only after the
checks. A check without `when` refuses everything that is left, and belongs at the end.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import ConditionError, find_wrong_checks
from stagec.frontends.stages.coverage import find_unreached_checks
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import asking, contradiction, decisions, elsewhere, grounds, rule

_SHOWN = 8


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_checks(pipeline):
        found = each.wrong
        if found.kind is not ConditionError.UNDECLARED:
            message = f"a check of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(
                found.at,
                message,
                tuple(elsewhere(each)),
                causes=grounds(pipeline, each.stage),
                spoils=decisions(each.stage),
            )
    for stage in pipeline.stages:
        for lost in find_unreached_checks(pipeline, stage):
            related = tuple(Related(each.at, "decides first") for each in lost.earlier[:_SHOWN])
            why = "earlier ones decide all that it is about" if lost.earlier else "its conditions never hold together"
            message = f"a check of stage {quote(stage.name)} never decides: {why}"
            yield Finding(lost.judged.at, message, related, causes=grounds(pipeline, stage))
