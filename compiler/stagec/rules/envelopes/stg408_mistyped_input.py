"""An input is no text.

## Why this matters
An input is a path or an address, written as a text. From anything else no stage can tell where to read.

## How to fix
Write the input as one text, such as `data/wine.csv`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, rule


@rule(since="0.1", origin=("stage-protocol:input-value-type",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("mistyped-input"):
        yield Finding(fault.at, describe_type(plan, fault))
