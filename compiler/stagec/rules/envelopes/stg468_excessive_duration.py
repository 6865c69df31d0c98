"""A stage has more than 600 seconds.

## Why this matters
No stage runs longer than ten minutes, whatever its envelope says: a long stage loses all its work when it fails.

## How to fix
Make several stages of it, so that each leaves its results and a checkpoint behind.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.protocol.watchdog import LONGEST
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duration-too-long",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("excessive-duration"):
        yield Finding(fault.at, f"{fault.facts['got']:g} s is more than the {LONGEST} s that a stage has at most")
