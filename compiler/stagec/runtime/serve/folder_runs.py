"""The runs of a folder: a journal for each, executed by processes of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shlex import join
from threading import Thread

from stagec.core.bounded import read_path
from stagec.core.clock import LATEST, read_clock
from stagec.core.disk import create_private, make_private_folder
from stagec.core.failure import Failure
from stagec.core.words import visible
from stagec.ir.plan import Plan
from stagec.runtime.drivers.following import Standing, UnreachableError, find_standing
from stagec.runtime.drivers.local import JournalError
from stagec.runtime.drivers.local.drive import read_interruption
from stagec.runtime.drivers.local.live_journal import LiveJournal
from stagec.runtime.drivers.local.mailbox import AlreadySentError, Mailbox
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, RunMessage, write_message
from stagec.runtime.machine import State
from stagec.runtime.serve.run_source import BY, RunStamp, StartOrder
from stagec.runtime.world.questions import AskedOfPeople, make_answer, read_decision

LOG = ".log"
"""The suffix of the file beside a journal with the output of its process."""
_PATIENCE = 20.0
"""Seconds in which a process begins its run, or says why it cannot."""
_OFTEN = 0.05
_LARGEST = 10_000_000
"""Bytes of what a process has said that are read."""
_LINES = 5
_WAIT = ("--answers", "wait")


class RunProcesses:
    """Starts processes, with the options that whoever serves the page has given for all of them."""

    def __init__(self, options: tuple[str, ...], tell: Callable[[str], None]) -> None:
        self._options, self._tell = options, tell

    def start(self, order: StartOrder, path: Path) -> None:
        """Start a run; this returns when its journal is at the path. A run that does not begin is a `Failure`."""
        entry = () if order.entry is None else ("--entry", order.entry)
        given = ("--input", "@-") if order.inputs else ()
        where = ("--runs", str(path.parent), "--run", order.name, "--digest", order.plan.digest)
        words = ("run", *_WAIT, *self._options, *where, *entry, *given, str(order.plan.path.absolute()))
        data = json.dumps(order.inputs).encode()
        self._begin(words, path, data, lambda: os.path.lexists(path))
        self._tell(f"the page has started run {visible(order.name)}")

    def resume(self, path: Path) -> None:
        """Resume a run; this returns when a process executes it."""
        self._begin(("resume", *_WAIT, *self._options, str(path)), path, b"", lambda: _is_executed(path))
        self._tell(f"the page has resumed run {visible(path.name.rpartition('.')[0])}")

    def cancel(self, path: Path) -> None:
        """End a run that nobody executes; this returns when it has ended."""
        self._begin(("runs", "cancel", str(path)), path, b"", lambda: False)

    def _begin(self, words: tuple[str, ...], path: Path, given: bytes, is_begun: Callable[[], bool]) -> None:
        log = path.with_name(f"{path.name}{LOG}")
        # without -P, a module of the current folder could take the place of stagec
        called = [sys.executable, "-P", "-m", "stagec", *words]
        try:
            make_private_folder(path.parent)
            opened = create_private(log, lambda _: None, replace=True)
            with os.fdopen(opened, "r+b") as said:
                process = subprocess.Popen(
                    called, stdin=subprocess.PIPE, stdout=said, stderr=said, start_new_session=True
                )
        except OSError as error:
            raise Failure(f"no process can be started: {error.strerror or error}") from error
        Thread(target=self._follow, args=(process, given, path.name.rpartition(".")[0]), daemon=True).start()
        end = time.monotonic() + _PATIENCE
        while process.poll() is None and not is_begun() and time.monotonic() < end:
            time.sleep(_OFTEN)
        if process.poll() not in {None, 0, 1} and not is_begun():
            raise Failure(_read_complaint(log))

    def _follow(self, process: subprocess.Popen[bytes], given: bytes, name: str) -> None:
        """Hand a process its inputs, and wait for its end, so that nothing is left of it."""
        process.communicate(given)
        self._tell(f"the process of run {visible(name)} has ended with status {process.returncode}")


def _is_executed(path: Path) -> bool:
    live = LiveJournal(path)
    try:
        return live.is_executed()
    except JournalError:
        return False
    finally:
        live.close()


def _read_complaint(log: Path) -> str:
    """Return the last message of a process."""
    try:
        lines = read_path(log, _LARGEST).decode(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    told = [line.removeprefix("stagec: error: ") for line in lines if line.startswith(("stagec: error:", "Error:"))]
    return "; ".join((told or lines)[-_LINES:]) or "the process has ended without a word"


SUFFIX = ".run"
_RECENT = 1.0
"""Seconds in which a file may change again without a new time: clocks of file systems tick slowly."""


NameRun = Callable[[str | None, Plan], Path]
"""Returns the file of a run that is to begin, by the name that somebody wants for it; raises `Failure` for no name."""


class FolderRun(LiveJournal):
    """A run of a folder."""

    def describe(self, state: State, *, is_executed: bool) -> tuple[Standing, str]:
        """Return how the run stands that has come to a state, and why."""
        standing = find_standing(state, is_executed=is_executed)
        interruption = read_interruption(self.path) if standing is Standing.INTERRUPTED else None
        return standing, state.reason if interruption is None else interruption.sentence


class FolderRuns:
    """The runs of a folder; `name_run` names those that the page starts, which `processes` executes."""

    quick, slow = 0.1, 1.0

    def __init__(self, folder: Path, processes: RunProcesses, name_run: NameRun) -> None:
        self.folder, self._processes, self._name_run = folder, processes, name_run

    def list_stamps(self) -> Iterator[tuple[str, RunStamp]]:
        """Yield the names of runs with what is known of their files."""
        try:
            with os.scandir(self.folder) as entries:
                named = [each for each in entries if each.name.endswith(SUFFIX) and each.name.isprintable()]
        except FileNotFoundError:
            return
        except OSError as error:
            raise UnreachableError(f"the folder of runs cannot be read: {error.strerror or error}") from error
        for each in named:
            with suppress(FileNotFoundError):
                status = each.stat(follow_symlinks=False)
                is_fresh = (read_clock() or LATEST) / 1e9 - status.st_mtime < _RECENT
                token = status.st_mtime_ns, status.st_size, status.st_ino
                yield each.name.removesuffix(SUFFIX), RunStamp(token, status.st_mtime, is_fresh)

    def holds(self, name: str) -> bool:
        """Tell whether there is a file of a name."""
        return name.isprintable() and os.path.lexists(self._locate(name))

    def follow(self, name: str) -> FolderRun:
        """Return a run, of which nothing has been read."""
        return FolderRun(self._locate(name))

    def answer(self, name: str, asked: AskedOfPeople, *, yes: bool) -> None:
        """Answer a question by a message; raises `OtherAnswerError` when somebody was first."""
        message = write_message(MessageKind.ANSWER, BY, asked.key, make_answer(asked, yes=yes))

        def fits(other: RunMessage) -> bool:
            return other.key == asked.key and read_decision(asked, other.answer) is not None

        try:
            Mailbox(self._locate(name)).send(message, fits)
        except AlreadySentError as error:
            raise OtherAnswerError(error.message.answer, error.message.by) from error

    def send(self, name: str, kind: MessageKind) -> bool:
        """Ask the process that executes a run to pause or to cancel it."""
        try:
            Mailbox(self._locate(name)).send(write_message(kind, BY))
        except AlreadySentError:
            return False
        return True

    def cancel(self, name: str) -> None:
        """End a run by a process of its own."""
        self._processes.cancel(self._locate(name))

    def name_command(self, name: str, command: str) -> str:
        """Return the line of a shell with which `stagec` does something to a run."""
        return join(("stagec", command, name, "--runs", str(self.folder)))

    def resume(self, name: str) -> None:
        """Start a process that goes on with a run."""
        self._processes.resume(self._locate(name))

    def name_run(self, name: str | None, plan: Plan) -> str:
        """Return the name of a run that is to begin."""
        return self._name_run(name, plan).name.removesuffix(SUFFIX)

    def start(self, order: StartOrder) -> None:
        """Start a process that executes a run."""
        self._processes.start(order, self._locate(order.name))

    def _locate(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"
