"""A dependency is no text.

## Why this matters
A stage depends on other stages by their ids, which are texts. A dependency of another type names no stage, so nothing
is waited for.

## How to fix
Write the id of the stage, such as `S01_load_data`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, rule


@rule(since="0.1", origin=("stage-protocol:dependency-type",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("mistyped-dependency"):
        yield Finding(fault.at, describe_type(plan, fault))
