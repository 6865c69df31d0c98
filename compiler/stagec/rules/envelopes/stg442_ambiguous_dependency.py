"""A dependency is the number of several stages.

## Why this matters
Which of them the stage has to wait for cannot be told.

## How to fix
Write the whole id of each stage that is meant.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.envelopes.document import DependencyKind, StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:dependency-short-ref-ambiguous",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for odd in (odd for stage in plan.envelopes for odd in stage.oddities):
        if odd.kind is DependencyKind.AMBIGUOUS:
            yield Finding(
                odd.at, f"dependency {quote(odd.name)} may be {listing(plan.by_number.get(odd.name, odd.meant), 'or')}"
            )
