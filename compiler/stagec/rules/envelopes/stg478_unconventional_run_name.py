"""The id of a run or the title of a report is not written as the protocol shows them.

## Why this matters
Both are names of folders. Runs are called `run-20260102-143022` by date and time, or `run-001`; titles are words in
small letters that are joined by hyphens.

## How to fix
Rename it, or leave it: any name that can be that of a folder works.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.run_names import find_odd_names
from stagec.rules.envelopes import rule


@rule(
    since="0.1",
    origin=(
        "stage-protocol:run-id-format",
        "stage-protocol:report-title-format",
    ),
    severity=Severity.NOTE,
)
def check(plan: StagePlan) -> Iterator[Finding]:
    for each in find_odd_names(plan):
        yield Finding(each.at, each.sentence, causes=(each.at,))
