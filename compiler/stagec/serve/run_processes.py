"""Processes that execute runs for the page: each is one of `stagec run` or `stagec resume`, and outlives the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

from stagec.core.bounded import read_path
from stagec.core.disk import create_private, make_private_folder
from stagec.core.failure import Failure
from stagec.core.words import visible
from stagec.drivers.local import JournalError
from stagec.drivers.local.live_journal import LiveJournal
from stagec.serve.run_source import StartOrder

LOG = ".log"
"""What is put behind the name of a journal for what its process has said."""
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
        self._begin(("cancel", str(path)), path, b"", lambda: False)

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
    """Return what a process has said last."""
    try:
        lines = read_path(log, _LARGEST).decode(errors="replace").strip().splitlines()
    except OSError:
        lines = []
    told = [line.removeprefix("stagec: error: ") for line in lines if line.startswith(("stagec: error:", "Error:"))]
    return "; ".join((told or lines)[-_LINES:]) or "the process has ended without a word"
