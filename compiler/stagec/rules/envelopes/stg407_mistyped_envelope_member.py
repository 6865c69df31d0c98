"""A member of an envelope has a value of the wrong type.

## Why this matters
A number in quotes is a text, and a text is no list. Programs that read envelopes refuse such a member or take it for
something else.

## How to fix
Write a value of the type that the message names.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, rule


@rule(since="0.1", origin=("stage-protocol:wrong-type",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("mistyped-envelope-member"):
        yield Finding(fault.at, describe_type(plan, fault))
