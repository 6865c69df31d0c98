"""`stagec worker` for the suite, where a test makes its clock or its version another one."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

CLOCK = "STAGEC_CONFORMANCE_CLOCK"
"""A file with the seconds by which the clock of a worker is wrong; it may change at any moment."""
VERSION = "STAGEC_CONFORMANCE_VERSION"
"""The version of the machine that a worker says it has, if not its own."""


def shift_clock(told: Path) -> None:
    """Let the clock on the wall, and no other one, be wrong: before anybody takes the functions that read it."""
    read, read_ns = time.time, time.time_ns

    def find_shift() -> int:
        return int(told.read_text(encoding="ascii"))

    time.time = lambda: read() + find_shift()
    time.time_ns = lambda: read_ns() + find_shift() * 1_000_000_000


if __name__ == "__main__":
    if CLOCK in os.environ:
        shift_clock(Path(os.environ[CLOCK]))
    from stagec.__main__ import main
    from stagec.runtime.drivers import dbos

    if VERSION in os.environ:
        dbos.WorkerSettings = partial(dbos.WorkerSettings, version=os.environ[VERSION])  # type: ignore[assignment,misc]
    main()
