"""When a watchdog acts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.ir.protocol.lifecycle import LONGEST, SHORTEST, Tier, WatchTimes, grace_of, tier_of, watch_times


@pytest.mark.parametrize(
    ("duration", "tier"),
    [
        (SHORTEST, Tier.QUICK),
        (60, Tier.QUICK),
        (60.5, Tier.STANDARD),
        (240, Tier.STANDARD),
        (240.001, Tier.EXTENDED),
        (480, Tier.EXTENDED),
        (481, Tier.MAXIMUM),
        (LONGEST, Tier.MAXIMUM),
        (10_000, Tier.MAXIMUM),
    ],
)
def test_a_duration_on_the_edge_belongs_to_the_shorter_tier(duration: float, tier: Tier) -> None:
    assert tier_of(duration) is tier


@pytest.mark.parametrize(
    ("duration", "times"),
    [
        (30, WatchTimes(30_000, 60_000, 65_000, 68_000)),
        (60.5, WatchTimes(60_500, 90_500, 95_500, 98_500)),
        (570, WatchTimes(570_000, 600_000, 605_000, 608_000)),
        (571, WatchTimes(571_000, 600_000, 605_000, 608_000)),
        (600, WatchTimes(600_000, 600_000, 605_000, 608_000)),
        (1e9, WatchTimes(600_000, 600_000, 605_000, 608_000)),
    ],
)
def test_the_absolute_maximum_ends_the_grace(duration: float, times: WatchTimes) -> None:
    assert watch_times(duration) == times


def test_the_grace_shrinks_before_the_absolute_maximum() -> None:
    assert [grace_of(each) for each in (30, 570, 580, 600, 700)] == [30, 30, 20, 0, 0]


@given(st.floats(min_value=SHORTEST, max_value=LONGEST))
def test_the_moments_come_one_after_the_other(duration: float) -> None:
    times = watch_times(duration)
    assert times.warn <= times.interrupt <= LONGEST * 1000
    assert times.interrupt < times.terminate < times.kill
    assert times.interrupt - times.warn == pytest.approx(grace_of(duration) * 1000, abs=1)
