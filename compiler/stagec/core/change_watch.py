"""Whether the answers of a disk have changed since they were recorded.

Times and sizes tell where to look; the answers themselves tell that something has changed. This works on every file
system, and also sees what is created later.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable

from stagec.core.clock import LATEST, read_clock
from stagec.core.observations import Observations, find_changes

_SETTLE = 0.02
"""Seconds in which nothing changes before something is done again: editors save in several steps."""
_PATIENCE = 5
"""How often that is waited for; a file that is written all the time does not hold everything up."""
_YOUNG = 2.0
"""Seconds in which a file may change again without another time: those of some file systems are coarse."""

Sign = tuple[int, ...]


class ChangeWatch:
    """The questions asked of a disk, and the state of its files and folders at the last check."""

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


def _list_above(path: str) -> Iterable[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _sign(path: str) -> Sign:
    """Return a signature that changes with every answer about a path, except for a change within the same moment."""
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
