"""A member of a stage plan has a value that it cannot have, or `stages` is not there.

## Why this matters
`stages` lists the envelopes, `reportTitle` and `runId` name the folders of runs, and `maxParallel` limits how many
stages run at the same time. With another value the member is not read, and its default stands.

## How to fix
Write a value of the type that the message names, and `stages` where another name lists the envelopes.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, report_absence, rule


@rule(since="0.1", origin=("rulings:stage-plans",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("mistyped-plan-member"):
        is_absent = fault.reason == "required"
        yield report_absence(plan, fault) if is_absent else Finding(fault.at, describe_type(plan, fault))
