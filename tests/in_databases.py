"""Runs in databases, and workers in threads of a test."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread

import nursery
from playable import steps

from stagec.core.json import Json
from stagec.ir.plan import Plan, dump
from stagec.runtime.drivers.dbos import (
    Database,
    RunPhase,
    RunRecord,
    RunStore,
    Submission,
    Transitions,
    Worker,
    WorkerSettings,
)
from stagec.runtime.machine import Effect, Program, State, load
from stagec.runtime.machine.exchange import Shell, read_key

PATIENCE = 60


class ScriptedTestWorld:
    """Answers the steps of `playable.steps`: `draft` is repeated so often; what is asked is noted."""

    def __init__(self, repeats: int = 2) -> None:
        self.repeats = repeats
        self.asked: list[str] = []

    @contextmanager
    def open(self, _record: RunRecord, _program: Program, _child: str = "") -> Iterator[ScriptedTestWorld]:
        yield self

    def answer(self, effect: Effect) -> Json:
        self.asked.append(effect.key)
        if isinstance(effect, Shell):
            return {"exit": 0, "stdout": "", "stderr": ""}
        key = read_key(effect.key)
        if key.node == "draft":
            return {"answer": {"action": "repeat" if key.visit <= self.repeats else "next"}}
        return {"answer": {"action": "closing"}}

    def overlaps(self, _effect: Effect) -> bool:
        return False

    def takes(self, _effect: Effect) -> bool:
        return False

    def name_provider(self, effect: Effect) -> str:
        return "" if isinstance(effect, Shell) else "openai"

    def cancel(self, key: str) -> None:
        """Have nothing under way."""

    def observe(self, event: object, step: object) -> None:
        """Remember nothing."""


@contextmanager
def working(database: Database, world: ScriptedTestWorld, **settings: object) -> Iterator[Worker]:
    """Let a worker execute runs while the body runs."""
    told: list[str] = []
    worker = Worker(database, WorkerSettings(world.open, told.append, **{"grace": 5, **settings}))  # type: ignore[arg-type]
    worker.told = told  # type: ignore[attr-defined]
    thread = Thread(target=worker.work)
    thread.start()
    try:
        yield worker
    finally:
        worker.drain()
        thread.join(PATIENCE)
        assert not thread.is_alive()


class WorkerProcess:
    """A process that is `stagec worker`, with the methods of `subprocess.Popen` that tests call."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self._said = TemporaryFile()  # noqa: SIM115  it is read when the process has ended
        with Path(os.devnull).open("r+b") as nothing:
            streams = (nothing.fileno(), nothing.fileno(), self._said.fileno())
            self._process = nursery.start(("worker", *words), folder, nursery.inherit(), streams)
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; None as long as it runs."""
        return self._process.poll()

    def poll(self) -> int | None:
        """Return the exit status, as `returncode`."""
        return self._process.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def communicate(self, timeout: float = PATIENCE) -> tuple[None, str]:
        """Wait for the end, and return what it has said on its standard error, as the second."""
        self._process.wait(timeout)
        with self._said:
            self._said.seek(0)
            return None, self._said.read().decode()


def start_worker(*words: str, folder: Path | None = None) -> WorkerProcess:
    """Start `stagec worker` in a folder, with the database of the environment."""
    return WorkerProcess(words, folder or Path.cwd())


def end_worker(worker: WorkerProcess) -> str:
    """Ask a worker to end, and return what it has said."""
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0, errors
    return errors


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def wait_until(runs: RunStore, run: str, *phases: RunPhase) -> RunRecord:
    """Wait until a run stands as it should, and return it."""
    wait_for(lambda: runs.find(run).phase in phases)
    return runs.find(run)


def submission(run: str, plan: Plan | None = None, **given: object) -> Submission:
    """Return a run of a plan, by default of `playable.steps`."""
    data = dump(steps() if plan is None else plan)
    inputs = {"topic": "cats"} if plan is None else {}
    return Submission(run, data, load(data).digest, **{"inputs": inputs, **given})  # type: ignore[arg-type]


def submit(runs: RunStore, *given: Submission) -> list[bool]:
    return list(runs.submit(given))


def transitions(runs: RunStore) -> Transitions:
    return Transitions(runs)


def state_of(runs: RunStore, run: str) -> State:
    return runs.fold(runs.find(run))[1]
