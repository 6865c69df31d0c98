"""A stage reads nothing from a stage that it depends on.

## Why this matters
A dependency that only orders stages is legal. It may also be left over, and then makes the run longer than it has to
be.

## How to fix
Remove the dependency if the stages can run in any order.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:dependency-unused",), severity=Severity.NOTE, groups=("pedantic",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes if not plan.alone else ():
        read = {given.producer for given in stage.inputs.values()}
        places = stage.place_mentions()
        for name in stage.needs:
            at = places.get(name)
            if name not in read and at is not None:
                message = f"stage {quote(stage.name)} depends on {quote(name)}, but reads nothing from it"
                yield Finding(at, message)
