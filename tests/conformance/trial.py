"""A driver on trial: runs that are submitted, workers that are killed, and what was wrong with what came of them."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from conformance.judge import Judge
from conformance.port import Driver, RefusedError, Submission, Worker
from conformance.samples import SAMPLES, Sample, sample_of
from conformance.world import Log
from stagec.runtime.machine import State, advance
from stagec.runtime.world.questions import is_for_people

PATIENCE = 90.0
"""Seconds in which something must come of what somebody does."""
_LOOK = 0.3
"""Seconds between two looks at the histories of runs: a look reads all of them."""


class Acknowledged(NamedTuple):
    """What histories held at a moment, and how long the log was after that."""

    keys: frozenset[str]
    size: int


class Trial:
    """Runs of a driver, and the workers that execute them."""

    def __init__(self, driver: Driver, folder: Path, pace: float = 5) -> None:
        self.driver, self.pace = driver, pace
        self.log = Log(folder / "world.log")
        self.workers: list[Worker] = []
        self.submitted: dict[str, Submission] = {}
        self.kills = 0
        self._acknowledged: list[Acknowledged] = []
        self._zombies: set[int] = set()
        self._known: dict[str, frozenset[str]] = {}
        self._final: set[str] = set()
        self._followed: dict[str, tuple[int, State]] = {}
        self.given_elsewhere: set[str] = set()
        """The requests that were answered before this driver had the runs."""

    def submit(self, sample: Sample, number: int = 0) -> str:
        """Submit a run of a sample, and return its id."""
        wanted = sample.submission(number)
        self.driver.submit(wanted)
        self.submitted[wanted.run] = wanted
        return wanted.run

    def start_worker(self) -> Worker:
        """Start a worker."""
        worker = self.driver.start_worker(self.log.environment(self.pace))
        self.workers.append(worker)
        return worker

    def kill(self, worker: Worker) -> None:
        """Kill a worker with all of its processes, and take note of what was acknowledged until then."""
        worker.signal(signal.SIGKILL)
        worker.wait(PATIENCE)
        self.workers.remove(worker)
        self.kills += 1
        self.take_note()

    def take_note(self) -> None:
        """Take note of what is acknowledged: nobody may be asked for it again."""
        for run in self.submitted:
            if run not in self._final:
                keys = frozenset(self._judge(run).list_keys())
                self._known[run] = keys
                if self.has_ended(run):
                    self._final.add(run)
        known = frozenset(key for keys in self._known.values() for key in keys)
        self._acknowledged.append(Acknowledged(known, self.log.size))

    def excuse(self) -> None:
        """Let those who execute runs now ask once more for what they had begun to ask: they will be stopped."""
        self._zombies.update(line.pid for line in self.log.read())

    def wait(self, is_so: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait until something is so."""
        until = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < until, f"{what}: not within {seconds:g} seconds"
            time.sleep(0.2)  # looking reads all journals

    def wait_for_requests(self, count: int) -> None:
        """Wait until the log has so many lines, two for each request, or all runs have ended; people answer."""
        begun = looked = time.monotonic()
        while self.log.count < count:
            if time.monotonic() - looked > _LOOK:
                assert time.monotonic() - begun < PATIENCE, f"the world was not asked {count} times"
                if not self._look(self.submitted):
                    return
                looked = time.monotonic()
            time.sleep(0.02)

    def follow(self, run: str) -> State:
        """Return where a run stands; what happened before the last look happens once."""
        count, state = self._followed.get(run, (0, State()))
        if state.ended is not None:
            return state
        history = self.driver.read(run)
        events = () if history is None else history.events
        for event in events[count:]:
            state = advance(SAMPLES[sample_of(run)].program, state, event).state
        self._followed[run] = len(events), state
        return state

    def has_ended(self, *runs: str) -> bool:
        """Tell whether runs have ended."""
        return all(self.follow(run).ended is not None for run in runs)

    def _look(self, runs: Iterable[str]) -> set[str]:
        """Let people answer what runs ask them; return the runs that have not ended."""
        states = {run: self.follow(run) for run in sorted(runs)}
        left = {run for run, state in states.items() if state.ended is None}
        for run in sorted(left):
            self.answer_questions(run, states[run])
        return left

    @property
    def ended_so_far(self) -> int:
        """How many runs had ended when somebody looked last."""
        return len(self._final)

    def count_events(self, run: str) -> int:
        """Return how many events a run has."""
        return len(self._judge(run).steps)

    def finish(self, *runs: str) -> None:
        """Let runs come to their end; people answer what they are asked as the sample says."""
        left = set(runs or self.submitted)

        def have_ended() -> bool:
            left.intersection_update(self._look(left))
            return not left

        try:
            self.wait(have_ended, "all runs have ended")
        except AssertionError as error:
            raise AssertionError(f"{error}; left: {sorted(left)[:5]}") from error

    def answer_questions(self, run: str, state: State) -> None:
        """Answer the questions of a run that wait."""
        decided = dict(SAMPLES[sample_of(run)].questions)
        for effect in state.pending.values():
            if is_for_people(effect):
                with suppress(RefusedError):  # it may be over: whoever asks looks again
                    self.driver.answer(run, effect.key, yes=decided[effect.key.partition("/")[2]])

    def find_faults(self, *runs: str) -> list[str]:
        """Return what is wrong with runs that have ended, and with what the world was asked."""
        found = [each for run in runs or self.submitted for each in self._judge(run).find_faults()]
        return found + self._find_repeated() + self._find_lost()

    def find_faults_of_cancelled(self, run: str) -> list[str]:
        """Return what is wrong with a run that was cancelled: its history is whole, and ends with the cancellation."""
        return [*self._judge(run).find_faults_of_cancelled(), *self._find_repeated()]

    def _judge(self, run: str) -> Judge:
        return Judge(run, SAMPLES[sample_of(run)], self.driver.read(run))

    def _find_repeated(self) -> list[str]:
        """Return what is wrong with requests that were made after their answers were acknowledged."""
        since: dict[str, int] = {}
        for known in reversed(self._acknowledged):
            since |= dict.fromkeys(known.keys, known.size)
        return [
            f"{line.key} was asked again by {line.pid} after its answer was acknowledged"
            for line in self.log.read()
            if line.what == "begun" and line.at >= since.get(line.key, line.at + 1) and line.pid not in self._zombies
        ]

    def _find_lost(self) -> list[str]:
        """Return what is wrong with answers that are acknowledged: nobody has given them."""
        given = {line.key for line in self.log.read() if line.what == "over"} | self.given_elsewhere
        asked = (key for run in self.submitted for key in self._judge(run).list_of_world())
        return [f"{key} is acknowledged, and nobody was asked for it" for key in asked if key not in given]

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.signal(signal.SIGKILL)
            worker.wait(PATIENCE)
        self.workers.clear()


@contextmanager
def on_trial(driver: Driver, folder: Path, pace: float = 5) -> Iterator[Trial]:
    """Put a driver on trial; no worker is left when this ends."""
    trial = Trial(driver, folder, pace)
    try:
        yield trial
    finally:
        trial.close()


def strike(trial: Trial, chance: random.Random, kills: int, workers: int = 1) -> None:
    """Kill workers so often, at random moments of runs; then let all runs come to their end.

    Where runs end sooner than that, the first one's sample is submitted again.
    """
    sample = SAMPLES[sample_of(next(iter(trial.submitted)))]
    while trial.kills < kills:
        if trial.has_ended(*trial.submitted):
            trial.submit(sample, 1000 + trial.kills)
        while len(trial.workers) < workers:
            trial.start_worker()
        trial.wait_for_requests(trial.log.count + chance.randrange(1, 8))
        time.sleep(chance.random() * 3 * trial.pace / 1000)
        trial.kill(chance.choice(trial.workers))
    while len(trial.workers) < workers:
        trial.start_worker()
    trial.finish()
