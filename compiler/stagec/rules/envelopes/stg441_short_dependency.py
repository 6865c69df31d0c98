"""A dependency is the number of a stage without its words.

## Why this matters
The protocol names dependencies by whole ids. The number means the stage only as long as no other one has it.

## How to fix
Write the whole id.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.envelopes.document import Dependency, DependencyKind, StagePlan
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:dependency-short-ref",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for stage, odd in ((each, odd) for each in plan.envelopes for odd in each.oddities):
        if odd.kind is DependencyKind.SHORT and odd.meant:
            message = f"dependency {quote(odd.name)} is short for {quote(odd.meant[0])}"
            yield Finding(odd.at, message, fix=_fix(odd, is_named=odd.meant[0] in stage.dependencies))
        elif odd.kind is DependencyKind.SHORT:
            yield Finding(odd.at, f"dependency {quote(odd.name)} is the number of a stage, and not its id")


def _fix(odd: Dependency, *, is_named: bool) -> Fix:
    if is_named:
        return Fix("leave it out, as the stage is named already", (Edit(Change.REMOVE, odd.at),))
    return Fix("write the whole id", (Edit(Change.REPLACE, odd.at, odd.meant[0]),))
