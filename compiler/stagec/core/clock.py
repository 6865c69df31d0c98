"""The clock of the machine, which may show a time that no counter holds: then nobody knows the time."""

from __future__ import annotations

import time

LATEST = 2**63 - 1
"""The last nanosecond that Python can read."""


def read_clock() -> int | None:
    """Return the nanoseconds since 1970; None for a time after the year 2262, which Python cannot read."""
    try:
        return time.time_ns()
    except OverflowError:
        return None


def stamp_clock(form: str) -> str:
    """Return the local time as `strftime` writes it; where nobody knows the time, that of 1970."""
    now = read_clock()
    return time.strftime(form, time.localtime(0 if now is None else now // 10**9))
