"""The goal of a stage is mostly blank.

## Why this matters
A goal of ten characters that are mostly blanks passes the JSON Schema of the protocol and says nothing.

## How to fix
Write a sentence of 10 to 200 characters.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import format_count
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import name_owner, rule


@rule(since="0.1", origin=("stage-protocol:goal-blank",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("blank-goal"):
        number = sum(not each.isspace() for each in str(fault.facts["got"]))
        owner = name_owner(plan, fault.at)
        yield Finding(
            fault.at, f"the goal of {owner} has {format_count(number, 'character')} besides blanks, fewer than 10"
        )
