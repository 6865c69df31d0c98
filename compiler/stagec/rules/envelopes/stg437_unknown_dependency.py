"""A stage depends on a stage that the plan does not have.

## Why this matters
The stage can never start, because what it waits for never completes.

## How to fix
Write the id of a stage of the plan, exactly as it stands there, or remove the dependency.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.lost import find_lost_stages
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:unknown-dependency",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_lost_stages(plan):
        if each.dependencies:
            first, *others = (*each.dependencies, *each.inputs)
            related = tuple(Related(at, "mentioned here too") for at in others[:_SHOWN])
            message = f"no stage of the plan has the id {quote(each.name)}{each.hint}"
            yield Finding(first, message, related, each.guess, each.causes)


_SHOWN = 8
