"""The goal of a stage has more than 200 characters.

## Why this matters
A goal is shown in lists, drawings and messages, where only one sentence has room. The JSON Schema of the protocol
refuses a longer one.

## How to fix
Write a sentence of 10 to 200 characters, and keep the rest elsewhere.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import name_owner, rule


@rule(since="0.1", origin=("stage-protocol:goal-too-long",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("long-goal"):
        length = len(str(fault.facts["got"]))
        yield Finding(fault.at, f"the goal of {name_owner(plan, fault.at)} has {length} characters, more than 200")
