"""An output is no text.

## Why this matters
An output is a path, written as a text. From anything else no stage can tell where to write.

## How to fix
Write the output as one text, such as `wine_df.parquet`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_type, rule


@rule(since="0.1", origin=("stage-protocol:output-value-type",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("mistyped-output"):
        yield Finding(fault.at, describe_type(plan, fault))
