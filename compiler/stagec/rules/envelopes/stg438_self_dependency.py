"""A stage depends on itself.

## Why this matters
It can never start, because it waits for its own end.

## How to fix
Remove the dependency, or name the stage that was meant.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import DependencyKind, StagePlan
from stagec.frontends.envelopes.ids import find_repeated_ids
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:self-dependency",))
def check(plan: StagePlan) -> Iterator[Finding]:
    repeated = {each.at: (each.id_at,) for each in find_repeated_ids(plan)}
    for stage in plan.envelopes:
        for odd in stage.oddities:
            if odd.kind is DependencyKind.OWN:
                message = f"stage {quote(stage.name)} depends on itself"
                yield Finding(odd.at, message, causes=repeated.get(stage.at, ()))
