"""Times: the clock of the machine, and durations that people write, such as `90s`, `5m`, `2h` or `1d`."""

from __future__ import annotations

import re
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


UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
"""The seconds of each unit."""
_WRITTEN = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)([smhd])")


def read_milliseconds(text: str) -> int | None:
    """Return a duration in milliseconds; None for any other text."""
    found = _WRITTEN.fullmatch(text)
    return None if found is None else round(float(found[1]) * UNITS[found[2]] * 1000)
