"""What changes a disk, counted: any call can be the last one of its process, or fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CALLS = ("open", "mkdir", "fsync", "fchmod", "chmod", "rename", "replace", "link", "unlink", "rmdir", "write")
"""The functions of `os` that change a disk or decide what is on it."""


class Crash(BaseException):
    """The process is gone: nothing catches this, and nothing changes the disk any more."""


class Interruption:
    """Counts calls; the one with the number `last` does not happen, and of a crash none after it does."""

    def __init__(self, last: int | None = None, *, is_crash: bool = True) -> None:
        self._last, self.is_crash = last, is_crash
        self.calls: list[str] = []

    @property
    def happened(self) -> bool:
        """Tell whether there were so many calls."""
        return self._last is not None and len(self.calls) > self._last

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Let the body change the disk until the interruption."""
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self.wrap(name, getattr(os, name)))
            try:
                yield
            except Crash:
                assert self.happened

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.calls.append(name)
            if self._last is not None and len(self.calls) > self._last + 1 and self.is_crash:
                raise Crash(name)
            if len(self.calls) - 1 == self._last:
                raise Crash(name) if self.is_crash else OSError(28, "No space left on device")
            return real(*given, **named)

        return call


def each_interruption(attempt: Callable[[Interruption], None], *, failures: bool = True) -> int:
    """Try every call as the last one and as one that fails, until there is none of that number; return how many."""
    number = 0
    for is_crash in (True, False) if failures else (True,):
        number = 0
        interruption = Interruption(number, is_crash=is_crash)
        attempt(interruption)
        while interruption.happened:
            number += 1
            interruption = Interruption(number, is_crash=is_crash)
            attempt(interruption)
    return number
