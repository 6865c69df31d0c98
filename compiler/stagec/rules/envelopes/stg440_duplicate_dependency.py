"""A stage names a dependency twice.

## Why this matters
Once is enough, so the second one may have been meant for another stage.

## How to fix
Remove one of them, or name the stage that was meant.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.envelopes.document import DependencyKind, StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duplicate-dependency",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage in plan.envelopes:
        first = {each.name: each.at for each in reversed(tuple(stage.list_mentions()))} if stage.oddities else {}
        wrong = {odd.name for odd in stage.oddities if odd.kind in {DependencyKind.UNKNOWN, DependencyKind.OWN}}
        for odd in stage.oddities:
            if odd.kind is DependencyKind.REPEATED and odd.name not in wrong:
                related = (Related(first[odd.name], "named here first"),)
                fix = Fix("remove the repetition", (Edit(Change.REMOVE, odd.at),))
                message = f"dependency {quote(odd.name)} is named twice"
                yield Finding(odd.at, message, related, fix)
