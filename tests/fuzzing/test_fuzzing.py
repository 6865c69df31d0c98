"""Damaged inputs of each kind, and every input that was ever a crash, crash nothing."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from campaigns import choose
from fuzzing.campaign import campaign, kept, used
from fuzzing.targets import TARGETS, CrashError, Target

SEEDS, PARTS = choose(40, whole=500), 5


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("target", TARGETS)
def test_no_input_crashes(target: str, part: int) -> None:
    each = SEEDS // PARTS
    assert list(campaign(target, range(part * each, (part + 1) * each))) == []


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_a_crash_is_none(target: str) -> None:
    assert {file.name: crash for file in kept(target) if (crash := used(target, file.read_bytes()))} == {}


@pytest.mark.parametrize("target", TARGETS)
def test_a_seed_is_always_the_same_input(target: str) -> None:
    made = [[TARGETS[target].make(Random(f"{target} {seed}")) for seed in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40


def _endless(_data: bytes, _folder: Path) -> None:
    while True:
        pass


def _raising(_data: bytes, _folder: Path) -> None:
    raise CrashError("this one")


def test_crashes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzing.campaign.SECONDS", 0.2)
    for use, what in ((_endless, "processor time"), (_raising, "this one")):
        monkeypatch.setitem(TARGETS, "json", Target(lambda _random: b"{}", use))
        assert [(each.seed, what in each.what) for each in campaign("json", range(2))] == [(0, True), (1, True)]
