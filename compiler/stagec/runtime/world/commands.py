"""Programs that a plan names, run as processes: their environment, bounded output, and nothing of them left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from stagec.core.disk import make_private_folder
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.secrets import LONGEST, Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.runtime.world.supervised_program import Alarm, Escalation, Job, Link, SupervisedProgram

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


BASE = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
"""Variables that every program gets, besides those whose names begin with `LC_`."""


def select_variables(variables: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables that a program gets: the basic ones, and those that somebody names."""
    wanted = {*BASE, *named}
    return {name: each for name, each in variables.items() if name in wanted or name.startswith("LC_")}


_MOST = 1_000_000
"""Bytes of each stream that are kept; what a program writes beyond that is read and dropped."""
_GRACE = 2_000
"""Milliseconds between the request to end and the kill of a program that takes too long."""


@value
class CommandLine:
    """A command line: its words, after how many milliseconds it must end if ever, its environment.

    `held` is an open file that every process of the program holds open, whose lock so tells whether any is left.
    `folder` is where it starts, None for the current folder. `given` is what it can read from its standard input.
    """

    words: tuple[str, ...]
    milliseconds: int | None = None
    environment: Mapping[str, str] = NOTHING
    held: int | None = None
    folder: str | None = None
    given: bytes | None = None


def run(line: CommandLine, redactor: Redactor, link: Link | None = None) -> Mapping[str, Json]:
    """Run a program and return `{"exit", "stdout", "stderr"}`; `exit` None: it has no status.

    It has none when it could not be started, was killed, or took too long: then it gets SIGTERM, and SIGKILL two
    seconds later. Whatever it started and left running is killed when it ends, and when this process ends in any way.
    What it wrote is redacted. Somebody who has the `link` can stop it.
    """
    link = Link() if link is None else link
    alarms: tuple[Alarm, ...] = ()
    milliseconds = line.milliseconds
    if milliseconds is not None:
        alarms = (Alarm(milliseconds, signal.SIGTERM), Alarm(milliseconds + _GRACE, signal.SIGKILL))
    out, err, escalation = _Collected(), _Collected(), Escalation(alarms)
    try:
        job = Job(line.words, line.environment, line.folder or os.getcwd(), line.held)
        SupervisedProgram(link, escalation).attend(job, (out.take, err.take), line.given)
    except (OSError, ValueError) as error:  # a word or a variable with NUL in it is a `ValueError`
        told = f"it could not be started: {error}".encode(errors="replace").decode()
        return {"exit": None, "stdout": "", "stderr": told}
    finally:
        link.close()
    in_time = escalation.reason is None
    status = link.status if in_time and link.status is not None and link.status >= 0 else None
    told = "" if in_time else f"stopped after {(line.milliseconds or 0) / 1000:g} s\n"
    return {"exit": status, "stdout": out.text(redactor), "stderr": err.text(redactor) + told}


class _Collected:
    """The received part of a stream."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def take(self, chunk: bytes) -> None:
        """Keep as much as there is room for."""
        self._kept += chunk[: _MOST + LONGEST - len(self._kept)]

    def text(self, redactor: Redactor) -> str:
        """Return the kept text without secrets; more is searched than is kept, so that no secret is cut in two."""
        return redactor.redact_output(self._kept.decode(errors="replace"))[:_MOST]
