"""Several stages are named to run one after the other.

## Why this matters
Hosts run them one by one, and what each of them leads to before the next: the second stage of the list starts when
everything that follows the first has ended. It is handed the result of whatever ran last, which its prompt can hardly
count on.

## How to fix
Name one stage, and the second under the `next` of the first. If they do not need each other, write
`execution: parallel`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import Pipeline
from stagec.model.flow import Mode
from stagec.rules.stages import routes, rule


@rule(since="0.1", origin=("stage-definitions:sequential-multi",), severity=Severity.WARNING)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage, case in routes(pipeline):
        if case.mode is Mode.CHAIN:
            names = listing([each.name for each in case.stages])
            message = f"{names} run one after the other after {quote(stage.name)}, each with all that follows it"
            yield Finding(case.stages[1].at, message)
