"""When the watchdog of a stage acts: the tiers of durations, and the moments that follow from `maxDurationSec`."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.value import value

DEFAULT = 240
"""Seconds for a stage that states no duration (the protocol's table of default values)."""
SHORTEST = 30
LONGEST = 600
"""Seconds that a stage may ask for (the protocol's JSON Schema); no hard limit is later (the absolute maximum)."""
GRACE = 30
"""Seconds between the soft and the hard limit (the protocol's table of default values)."""
TERMINATE_AFTER = 5
KILL_AFTER = 3
"""Seconds from SIGINT to SIGTERM and from there to SIGKILL.

The protocol gives no times; these are what most pages about its programs give.
"""


class Tier(StrEnum):
    """How long a stage is, by the protocol; tiers that share an end in its table meet at the shorter one."""

    QUICK = "Quick"
    STANDARD = "Standard"
    EXTENDED = "Extended"
    MAXIMUM = "Maximum"


LAST_OF_TIER = {Tier.QUICK: 60, Tier.STANDARD: 240, Tier.EXTENDED: 480, Tier.MAXIMUM: LONGEST}
"""The longest duration of each tier, in seconds."""


@value
class WatchTimes:
    """When the watchdog acts, in milliseconds from the start: a warning, SIGINT, SIGTERM and SIGKILL."""

    warn: int
    interrupt: int
    terminate: int
    kill: int


def tier_of(duration: float) -> Tier:
    """Return the tier of a duration in seconds."""
    return next((tier for tier, last in LAST_OF_TIER.items() if duration <= last), Tier.MAXIMUM)


def grace_of(duration: float) -> float:
    """Return the seconds between the soft and the hard limit: fewer where the absolute maximum comes first."""
    return max(0, min(GRACE, LONGEST - duration))


def watch_times(duration: float) -> WatchTimes:
    """Return when the watchdog acts on a stage that may last for so many seconds, at most the absolute maximum."""
    soft = round(min(duration, LONGEST) * 1000)
    hard = min(soft + GRACE * 1000, LONGEST * 1000)
    terminate = hard + TERMINATE_AFTER * 1000
    return WatchTimes(soft, hard, terminate, terminate + KILL_AFTER * 1000)
