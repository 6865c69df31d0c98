"""The world is not as a command needs it: no such file, bad option, nothing to do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The meaning of the exit status, the same for every command."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    NOTHING = 3
    INTERNAL = 4
    INTERRUPTED = 130
    """The work so far is kept and can be resumed: after Ctrl-C, and when a provider is down."""


class Failure(Exception):
    """Raised at the edge with a sentence for the user and hints how to go on, caught once in `cli/endings.py`."""

    def __init__(self, message: str, status: Exit = Exit.USAGE, hints: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.hints = tuple(hints)
