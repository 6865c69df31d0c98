"""A case asks for something that no result has.

## Why this matters
Cases choose by the result of their stage: its `verdict`, the `reason`, what was handed in as `parsed`, `capHit`, the
`attemptCount`, and the `output` of an exit hook. A path that begins otherwise is never there.

## How to fix
Members of what the stage hands in are written with `parsed` before them: `{when: {parsed.approved: true}, stages: []}`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.condition_errors import ConditionError, find_wrong_cases
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import asking, contradiction, elsewhere, grounds, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for each in find_wrong_cases(pipeline):
        found = each.wrong
        if found.kind is ConditionError.UNKNOWN:
            message = f"a case of stage {quote(each.stage.name)} {asking(found)}, but {contradiction(found)}"
            yield Finding(found.at, message, tuple(elsewhere(each)), causes=grounds(pipeline, each.stage))
