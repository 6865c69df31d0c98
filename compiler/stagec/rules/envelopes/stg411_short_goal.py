"""The goal of a stage has fewer than ten characters.

## Why this matters
A goal so short tells nobody what the stage is to achieve. The JSON Schema of the protocol refuses it.

## How to fix
Write a sentence of 10 to 200 characters.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import format_count
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import name_owner, rule


@rule(since="0.1", origin=("stage-protocol:goal-too-short",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("short-goal"):
        number = format_count(len(str(fault.facts["got"])), "character")
        yield Finding(fault.at, f"the goal of {name_owner(plan, fault.at)} has {number}, fewer than 10")
