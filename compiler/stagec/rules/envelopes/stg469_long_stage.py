"""A stage has more than four minutes.

## Why this matters
The protocol wants stages of at most four minutes, and has a tier for longer ones. What such a stage has done is lost
when it fails.

## How to fix
Make several stages of it where that is possible, so that each leaves its results and a checkpoint behind.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.durations import find_durations
from stagec.protocol.watchdog import Tier, tier_of
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duration-over-four-minutes",), severity=Severity.NOTE)
def check(plan: StagePlan) -> Iterator[Finding]:
    for at, duration in find_durations(plan, lambda duration: tier_of(duration) is Tier.EXTENDED):
        yield Finding(at, f"the stage has {duration:g} s, more than the 240 s that most stages should have")
