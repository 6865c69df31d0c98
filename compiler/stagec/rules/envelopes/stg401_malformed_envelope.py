"""What stands in the place of an envelope is no object.

## Why this matters
A stage is described by the members of an object: its id, its goal, its inputs and outputs. Anything else describes no
stage, and what was meant is lost.

## How to fix
Write the envelope as an object with `stageId`, `goal`, `inputs`, `outputs` and `maxDurationSec`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.rules.envelopes import describe_found, rule


@rule(since="0.1", origin=("stage-protocol:envelope-not-object",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("malformed-envelope"):
        yield Finding(fault.at, f"an envelope must be an object, found {describe_found(fault)}")
