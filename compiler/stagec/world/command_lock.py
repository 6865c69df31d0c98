"""One command of a run at a time, also across the death of the process that started it.

Every process of a command holds a file beside the journal open, which is locked. The lock ends with the last of them,
so that whoever resumes the run waits until nothing is left of what an earlier process had started.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from stagec.core.disk import make_private_folder
from stagec.core.failure import Failure
from stagec.core.words import quote

_PATIENCE = 10.0
"""Seconds to wait for the end of earlier commands; their supervisors kill them as soon as stagec is gone."""
_TICK = 0.01


class CommandLock:
    """The lock of a run's commands; the file is made when it is first needed, and removed at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._turn = Lock()

    def hold(self) -> int:
        """Return the locked file, once no command is left of an earlier process; raise `Failure` if one stays."""
        with self._turn:
            return self._hold()

    def _hold(self) -> int:
        self._make_folder()
        end = monotonic() + _PATIENCE
        while self._file is None:
            self._file = self._try()
            if self._file is None and monotonic() > end:
                raise Failure(f"a command that this run started earlier is still running: it holds {quote(self._path)}")
            if self._file is None:
                sleep(_TICK)
        return self._file

    def _make_folder(self) -> None:
        """Make the folder of the run, where nothing has begun there yet."""
        try:
            make_private_folder(self._path.parent)
        except OSError as error:
            raise Failure(f"cannot make {quote(self._path.parent)}: {error.strerror or error}") from error

    def _try(self) -> int | None:
        """Return the file if it could be locked, and is still the one of that name."""
        import fcntl

        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            file = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise Failure(f"cannot open {quote(self._path)}: {error.strerror or error}") from error
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), os.stat(self._path)):
                return file
        os.close(file)
        return None

    def close(self) -> None:
        """Let go of the file, and remove it unless a process that is being killed still holds it."""
        if self._file is None:
            return
        os.close(self._file)
        self._file = self._try()
        if self._file is not None:
            with suppress(OSError):
                os.unlink(self._path)
            os.close(self._file)
            self._file = None
