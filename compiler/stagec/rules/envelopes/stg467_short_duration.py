"""A stage has less than 30 seconds.

## Why this matters
The protocol allows 30 to 600 seconds.

## How to fix
Say at least 30. The stage ends as soon as it is done, so a longer limit costs nothing.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.protocol.watchdog import SHORTEST
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duration-too-short",))
def check(plan: StagePlan) -> Iterator[Finding]:
    for fault in plan.list_faults("short-duration"):
        yield Finding(fault.at, f"{fault.facts['got']:g} s is less than the {SHORTEST} s that a stage has at least")
