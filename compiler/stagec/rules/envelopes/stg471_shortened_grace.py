"""The time between the warning and the interruption of a stage is cut short.

## Why this matters
A stage that exceeds its limit has 30 seconds of grace before it is interrupted. No stage runs longer than 600
seconds, so with a limit of more than 570 seconds less is left: none at 600.

## How to fix
Say at most 570 seconds, or make several stages of it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.envelopes.document import StagePlan
from stagec.frontends.envelopes.durations import find_durations
from stagec.protocol.watchdog import GRACE, LONGEST, grace_of
from stagec.rules.envelopes import rule


@rule(since="0.1", origin=("stage-protocol:duration-grace-clamped",), severity=Severity.WARNING)
def check(plan: StagePlan) -> Iterator[Finding]:
    for at, duration in find_durations(plan, lambda duration: grace_of(duration) < GRACE and duration <= LONGEST):
        left = f"{grace_of(duration):g} s of grace instead of {GRACE} s"
        yield Finding(at, f"a limit of {duration:g} s leaves {left}, because every stage ends at {LONGEST} s")
