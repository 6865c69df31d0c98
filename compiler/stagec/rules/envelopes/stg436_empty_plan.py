"""A stage plan has no stages.

## Why this matters
There is nothing to run.

## How to fix
List the envelopes of the stages.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:plan-empty",))
def check(plan: StagePlan) -> Iterator[Finding]:
    if plan.is_whole and not plan.envelopes and plan.members.get("stages", []) == []:
        yield Finding(plan.root, "the plan has no stages")
