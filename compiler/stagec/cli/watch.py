"""Do something again each time when something has changed that it looked at on the disk.

What it looked at is what it asked while it was recorded: files and folders, names that were not there, links,
configurations in parent folders. They are looked at again and again, which works on every file system and also sees
what is created later. Times and sizes tell where to look; the answers themselves tell that something has changed.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable

from stagec.cli.streams import is_read, put, put_failure, say
from stagec.core.clock import LATEST, read_clock
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure
from stagec.core.observations import Observations, Recording, find_changes
from stagec.core.words import format_count

_TICK = 0.05
"""Seconds between two looks."""
_SHARE = 10
"""Looking takes at most one of so many parts of the time."""
_SETTLE = 0.02
"""Seconds in which nothing changes before something is done again: editors save in several steps."""
_PATIENCE = 5
"""How often that is waited for; a file that is written all the time does not hold everything up."""
_YOUNG = 2.0
"""Seconds in which a file may change again without another time: those of some file systems are coarse."""
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"

Sign = tuple[int, ...]


class ChangeWatch:
    """What was asked of a disk, and what its files and folders looked like when they were last looked at."""

    def __init__(self, observations: Observations) -> None:
        self._questions: dict[str, Observations] = {}
        for (kind, path), answer in observations.items():
            self._questions.setdefault(path, {})[kind, path] = answer
        self._folders = {above for path in self._questions for above in _list_above(path)}
        self._signs = self._look()
        self._young = set(self._questions)  # what happened since it was asked about has to be found out

    def has_changed(self) -> bool:
        """Tell whether an answer is another one than it was."""
        signs = self._look()
        touched = {path for path, sign in signs.items() if sign != self._signs[path]}
        everything = not touched.isdisjoint(self._folders - self._questions.keys())
        asked = self._questions.keys() if everything else (touched | self._young) & self._questions.keys()
        self._signs = signs
        now = (read_clock() or LATEST) / 1e9
        self._young = {path for path in self._questions if _is_young(signs[path], now)}
        return any(next(find_changes(self._questions[path]), None) is not None for path in asked)

    def settle(self) -> None:
        """Wait until nothing changes."""
        for _ in range(_PATIENCE):
            time.sleep(_SETTLE)
            signs = self._look()
            if signs == self._signs:
                return
            self._signs = signs

    def _look(self) -> dict[str, Sign]:
        signs = {path: _sign(path)[:3] for path in self._folders}  # what changes when another takes the place of one
        signs.update((path, _sign(path)) for path in self._questions)
        return signs


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


def _list_above(path: str) -> Iterable[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _sign(path: str) -> Sign:
    """Return what changes with whatever can be asked about a path, except for a change within the same moment."""
    own = _describe(path, os.lstat)
    return own + _describe(path, os.stat) if len(own) > 1 and stat.S_ISLNK(own[0]) else own


def _describe(path: str, ask: Callable[[str], os.stat_result]) -> Sign:
    try:
        status = ask(path)
    except (OSError, ValueError) as error:
        return (getattr(error, "errno", None) or 0,)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_mode, status.st_dev, status.st_ino, status.st_size, *times)


def _is_young(sign: Sign, now: float) -> bool:
    """Tell whether the times of a file, or of what a link leads to, are those of a moment ago."""
    return max((*sign[4:6], *sign[10:12]), default=0) / 1e9 > now - _YOUNG
