"""The connection with a supervisor, which ends a program and all that it has started when stagec ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.value import NOTHING, value

_SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
_PATIENCE = 10.0
"""Seconds in which the supervisor must take its job."""
_SHORT = 0.3
"""Seconds to wait until everything has been killed, while somebody waits for the end of stagec."""
_CHUNK = 4096


@value
class Job:
    """A program to start: its words, its whole environment, its folder, and a file that all of its processes hold."""

    words: tuple[str, ...]
    environment: Mapping[str, str] = NOTHING
    folder: str = "."
    held: int | None = None


class Link:
    """The connection with a supervisor: it is told its job, and tells how the program ended.

    `status` is the exit status of the program, negative for a signal; `error` is why it could not be started. Both are
    None as long as it runs, and after a supervisor that was killed. `is_started` tells whether either can be known.
    """

    def __init__(self) -> None:
        if not hasattr(os, "killpg"):
            raise Failure("programs are run on POSIX systems only; a scenario can answer for them: 'commands'")
        self.socket, self._others = socket.socketpair()
        self._rest = b""
        self.is_started = False
        self._program: int | None = None
        self.status: int | None = None
        self.error: OSError | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The command line of the supervisor."""
        return (sys.executable, "-I", "-S", _SUPERVISOR, str(self._others.fileno()))

    def list_inherited(self, job: Job) -> tuple[int, ...]:
        """Return the file descriptors that the supervisor gets besides its streams."""
        return (self._others.fileno(),) if job.held is None else (self._others.fileno(), job.held)

    def begin(self, job: Job) -> None:
        """Hand over the job; raise `ValueError` for what no program can be given."""
        pairs = [f"{name}={given}" for name, given in job.environment.items()]
        texts = (str(os.getpid()), job.folder, str(len(job.words)), *job.words, *pairs)
        fields = [os.fsencode(each) for each in texts]
        if any(b"\0" in each for each in fields):
            raise ValueError("embedded null byte")
        data = b"\0".join(fields)
        self._others.close()
        self.socket.settimeout(_PATIENCE)
        self.socket.sendall(b"%10d" % len(data) + data)

    def fileno(self) -> int:
        """Return the descriptor on which news arrive."""
        return self.socket.fileno()

    def read(self) -> bool:
        """Take what the supervisor tells; return whether more may come."""
        try:
            return self.take(self.socket.recv(_CHUNK))
        except OSError:  # it was killed
            return False

    def take(self, chunk: bytes) -> bool:
        """Take a part of what the supervisor tells; return whether more may come."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            kind, _, number = line.partition(b" ")
            self.is_started = True
            if kind == b"started":
                self._program = int(number)
            elif kind == b"ended":
                self.status = int(number)
            elif kind == b"trouble":
                self.error = OSError(int(number), os.strerror(int(number)))
        return bool(chunk) and self.status is None and self.error is None

    def refuse_error(self) -> None:
        """Raise why the program could not be started, if that is known."""
        if self.error is not None:
            raise self.error

    def signal(self, number: int) -> None:
        """Send a signal to the program and to whatever shares its session."""
        with suppress(OSError):
            self.socket.sendall(bytes((number,)))

    def stop(self) -> None:
        """End the program as `close` does, from another thread than the one that waits for news of it."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def kill_orphans(self) -> None:
        """Kill what shares the process group of a program whose supervisor was killed, which can do so no more."""
        if self._program is not None:
            with suppress(OSError):
                os.killpg(self._program, signal.SIGKILL)

    def close(self) -> None:
        """Let go: everything that is left of the program is killed."""
        self._others.close()
        self.socket.close()


def await_end(process: subprocess.Popen[bytes]) -> None:
    """Wait until a supervisor that was let go has killed everything, but not for ever: it goes on by itself."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SHORT)
