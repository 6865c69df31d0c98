"""The statuses of a stage, and what leads from one to another."""

from __future__ import annotations

import pytest

from stagec.ir.protocol.lifecycle import STAGE_CHANGES, StageEvent, StageStatus, follow_event

SETTLED = frozenset({StageStatus.COMPLETED, StageStatus.RESUMABLE, StageStatus.BLOCKED})
"""The statuses that only somebody's decision changes."""
PAIRS = [(status, event) for status in StageStatus for event in StageEvent]


def test_fifteen_of_all_pairs_are_legal() -> None:
    assert (len(PAIRS), len(STAGE_CHANGES)) == (96, 15)


def test_the_table_is_followed() -> None:
    assert {pair: follow_event(*pair) for pair in STAGE_CHANGES} == STAGE_CHANGES


def test_what_the_table_does_not_have_is_refused() -> None:
    for status, event in PAIRS:
        if (status, event) not in STAGE_CHANGES:
            with pytest.raises(ValueError, match=f"no stage that is {status} can meet the event {event}"):
                follow_event(status, event)


def test_a_completed_stage_stays_completed() -> None:
    assert not [event for status, event in STAGE_CHANGES if status is StageStatus.COMPLETED]


def test_an_interrupted_stage_is_not_completed_by_a_late_success() -> None:
    assert (StageStatus.INTERRUPTING, StageEvent.SUCCESS) not in STAGE_CHANGES


def test_every_stage_can_settle_without_anybodys_decision() -> None:
    decisions = {StageEvent.RESUME, StageEvent.RESET}
    leads: dict[StageStatus, set[StageStatus]] = {each: {each} for each in SETTLED}
    for _ in StageStatus:
        for (status, event), after in STAGE_CHANGES.items():
            if event not in decisions:
                leads.setdefault(status, set()).update(leads.get(after, ()))
    assert set(leads) == set(StageStatus)
    assert not [key for key in STAGE_CHANGES if key[0] in SETTLED and key[1] not in decisions]
