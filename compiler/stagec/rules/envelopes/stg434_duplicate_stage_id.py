"""Two stages of a plan have the same id.

## Why this matters
The id is the name of the stage's folder, and dependencies and inputs name stages by it. Which one is meant cannot be
told.

## How to fix
Give one of them another id. Stages may share a number, but not all their words.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.ids import find_repeated_ids
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duplicate-stage-id",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in find_repeated_ids(plan):
        first = plan.by_id[stage.name]
        message = f"an earlier stage has the id {quote(stage.id)} too"
        yield Finding(stage.id_at, message, (Related(first.id_at, "the earlier stage"),))
