"""Repeat a task whenever something changes on the disk that the task has looked at.

Its questions are recorded: files and folders, absent names, links, and configurations in parent folders.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from stagec.cli.streams import is_read, put, put_failure, say
from stagec.core.change_watch import ChangeWatch
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure
from stagec.core.observations import Recording
from stagec.core.words import format_count

_TICK = 0.05
"""Seconds between two looks."""
_SHARE = 10
"""Looking takes at most one of so many parts of the time."""
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def repeat(action: Callable[[], Exit], *, quiet: bool = False) -> Exit:
    """Do something, and again after each change, until Ctrl-C, or until nobody reads what it prints."""
    start_collector()
    while True:
        _check_folder()
        with Recording() as seen:
            try:
                status = action()
            except Failure as failure:
                put_failure(failure)
                status = failure.status
        watch = ChangeWatch(seen.observations)
        if not quiet:
            paths = {path for _, path in seen.observations}
            say(f"stagec: watching {format_count(len(paths), 'path')}; Ctrl-C ends")
        if not wait_for_change(watch):
            return status
        if sys.stdout.isatty():
            put(_CLEAR)


def _check_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise Failure(f"the working directory cannot be used: {error.strerror or error}") from error


def wait_for_change(watch: ChangeWatch) -> bool:
    """Wait until something has changed and nothing changes any more; False when nobody reads what is printed."""
    pause = _TICK
    while is_read():
        begin = time.perf_counter()
        if watch.has_changed():
            watch.settle()
            return True
        pause = max(_TICK, _SHARE * (time.perf_counter() - begin))
        time.sleep(pause)
    return False
