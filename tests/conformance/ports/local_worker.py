"""A worker of the local driver for the suite: executes the runs of a folder, each by a command in a child."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from stagec.__main__ import main
from stagec.runtime.drivers.local import JournalError
from stagec.runtime.drivers.local.live_journal import LiveJournal
from stagec.runtime.drivers.replay import fold_events
from stagec.runtime.machine import load

MOST = 4
"""Runs that are executed at the same time."""
LOADED = ("stagec.cli.running.start_request", "stagec.cli.running.resume_request", "conformance.world")
"""What is imported once, for all children."""
WORLD = ("--world", "conformance.world:make", "--answers", "wait")


class Drain:
    """Tells whether somebody has asked this process to end."""

    def __init__(self) -> None:
        self.wanted = False
        signal.signal(signal.SIGTERM, self._want)

    def _want(self, _number: int, _frame: object) -> None:
        self.wanted = True


def choose_words(runs: Path, submitted: Path) -> tuple[str, ...] | None:
    """Return the command that continues a run, or begins it; None for one that has ended or is executed."""
    name = submitted.name
    try:
        live = LiveJournal(runs / f"{name}.run")
        try:
            if live.is_executed():
                return None
            events = live.read_more().events
            ended = bool(events) and fold_events(load(live.plan), events).ended is not None
        finally:
            live.close()
    except JournalError:
        events, ended = (), False
    if ended:
        return None
    if events:
        return ("resume", name, "--runs", str(runs), *WORLD)
    entry = submitted / "entry"
    chosen = ("--entry", entry.read_text(encoding="utf-8")) if entry.exists() else ()
    given = ("--input", f"@{submitted / 'inputs.json'}") if (submitted / "inputs.json").exists() else ()
    return ("run", str(submitted / "plan.json"), "--run", name, "--runs", str(runs), *chosen, *given, *WORLD)


def execute(words: tuple[str, ...], log: Path) -> int:
    """Start a child that is a command of stagec, and return its id."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.argv = ["stagec", *words]
        main()
        os._exit(0)
    return child


class LocalWorker:
    """Executes the runs of a folder, until somebody asks for the end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: dict[str, int] = {}

    def look(self) -> None:
        """Let children begin or continue the runs that nobody executes."""
        for name, child in [*self._children.items()]:
            if os.waitpid(child, os.WNOHANG)[0]:
                del self._children[name]
        for submitted in sorted((self._folder / "submitted").iterdir()):
            is_paused = (self._folder / "paused" / submitted.name).exists()
            if is_paused or submitted.name in self._children or len(self._children) >= MOST:
                continue
            words = choose_words(self._folder / "runs", submitted)
            if words is not None:
                self._children[submitted.name] = execute(words, self._folder / "said")

    def end(self) -> None:
        """Interrupt what is executed: it can be resumed."""
        for child in self._children.values():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        for child in self._children.values():
            os.waitpid(child, 0)


def work(folder: Path) -> None:
    """Work until somebody asks for the end."""
    drain, worker = Drain(), LocalWorker(folder)
    for each in LOADED:
        import_module(each)
    while not drain.wanted:
        worker.look()
        time.sleep(0.02)
    worker.end()


if __name__ == "__main__":
    work(Path(sys.argv[1]))
