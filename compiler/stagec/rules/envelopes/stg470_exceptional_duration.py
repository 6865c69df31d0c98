"""A stage has more than eight minutes.

## Why this matters
The protocol keeps this tier for exceptional cases. What such a stage has done is lost when it fails.

## How to fix
Make several stages of it, so that each leaves its results and a checkpoint behind.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.durations import find_durations
from stagec.protocol.watchdog import LONGEST, Tier, tier_of
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duration-maximum-tier",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for at, duration in find_durations(
        plan, lambda duration: tier_of(duration) is Tier.MAXIMUM and duration <= LONGEST
    ):
        yield Finding(at, f"the stage has {duration:g} s, which is for exceptional cases only")
