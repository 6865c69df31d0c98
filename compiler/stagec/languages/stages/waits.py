"""Waits before the stages of a case: which of them cannot be."""

from __future__ import annotations

from enum import StrEnum

from stagec.languages.stages.document import Case

LONGEST = 365 * 24 * 60 * 60 * 1000
"""Milliseconds of the longest wait: nobody means a longer one."""


class WaitError(StrEnum):
    """Why a case cannot wait as it says."""

    UNREADABLE = "unreadable"
    """It says no duration."""
    NOTHING = "nothing"
    """It lasts no time."""
    LONG = "long"
    END = "end"
    """The case ends the run, so nothing begins after the wait."""


def find_wait_error(case: Case) -> WaitError | None:
    """Return why a case cannot wait as it says; nothing where it can, or does not wait."""
    if case.wait is None:
        return None
    length = case.wait.milliseconds
    if length is None:
        return WaitError.UNREADABLE
    if not case.stages and case.is_whole:
        return WaitError.END
    return WaitError.NOTHING if not length else WaitError.LONG if length > LONGEST else None
