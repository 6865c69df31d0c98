"""A case asks for something that can never be.

## Why this matters
What a stage hands in fits its completion schema, and the schema leaves no room for this: the path is forbidden, or the
value is none of those that can stand there. The author believes in a way that no run ever takes, and results that were
meant for it go elsewhere.

## How to fix
Write path and value as the schema has them. A case that does not ask for `verdict` is about accepted results only: what
a check refuses never comes to it. Without an assert hook a stage that reaches its turn cap never succeeds, so
`capHit: true` goes together with `verdict: fail` only. Values compare as JSON: `1` is `1.0`, and no text is `true`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import ConditionError, find_wrong_cases
from stagec.frontends.stages.coverage import find_unreached_cases
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import asking, contradiction, decisions, elsewhere, grounds, guess_condition, rule

_ELSEWHERE = {ConditionError.UNKNOWN, ConditionError.UNDECLARED}
"""What other rules speak of."""


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_cases(pipeline):
        found = each.wrong
        if found.kind not in _ELSEWHERE:
            message = f"a case of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(
                found.at,
                message,
                tuple(elsewhere(each)),
                guess_condition(found),
                causes=grounds(pipeline, each.stage),
                spoils=decisions(each.stage),
            )
    for stage in pipeline.stages:
        for lost in find_unreached_cases(pipeline, stage):
            if not lost.earlier:
                asked = {condition.path[0] for condition in lost.judged.when}
                what = "no result" if "verdict" in asked else "no accepted result"
                message = f"{what} of stage {quote(stage.name)} can meet all conditions of this case"
                yield Finding(lost.judged.at, message, causes=grounds(pipeline, stage))
