"""Runs on PostgreSQL while everything fails that can: workers, the server, its connections, its disk and the clock.

    PYTHONPATH=tests:compiler python -m scale.storm 100

kills workers a hundred times. The clock that every third worker reads jumps by up to a month.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import postgres
from conformance.ports.dbos import DbosDriver
from conformance.ports.dbos_worker import CLOCK
from conformance.ports.processes import Process
from conformance.samples import list_samples
from conformance.trial import Trial, on_trial
from postgres import Postgres, PostgresError

from stagec.core.failure import Failure
from stagec.runtime.drivers.dbos import RunPhase

DISK = 160
"""MiB of the disk of the server."""
WORKERS = 3
ENDED = (RunPhase.DONE, RunPhase.FAILED, RunPhase.BLOCKED)
OPEN = 12
"""Runs that have not ended, at any time before the last kill."""
_JUMPS = ("0", "3600", "-86400", "2592000", "-60")
"""By how many seconds the clock of a worker is wrong, one after the other."""


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small disk; raise `PermissionError` where that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", folder]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise PermissionError("a small disk needs the right to mount it")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


class ShiftedDriver(DbosDriver):
    """A driver of whose workers every third one reads a clock that a file shifts."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder, url)
        self.clock = folder / "clock"
        self._count = 0
        self.set_clock(_JUMPS[0])

    def set_clock(self, shift: str) -> None:
        """Let the clock jump."""
        made = self.clock.with_suffix(".new")
        made.write_text(shift, encoding="ascii")
        made.replace(self.clock)

    def start_worker(self, world: Mapping[str, str]) -> Process:
        """Start a worker."""
        self._count += 1
        is_shifted = self._count % WORKERS == 0
        return super().start_worker({**world, CLOCK: str(self.clock)} if is_shifted else world)


class Storm:
    """What happens to three workers and their server, in an order that a seed decides."""

    def __init__(self, trial: Trial, server: Postgres, chance: random.Random) -> None:
        self.trial, self.server, self._chance = trial, server, chance
        self.done: Counter[str] = Counter()
        self._samples = [each for each in list_samples() if each.length > 5]
        self._shifts = 0
        self._stopped: list[tuple[float, Process]] = []

    def rage(self, kills: int) -> None:
        """Let things happen until workers were killed so often."""
        others = (self.stop, self.cut, self.restart, self.fill, self.jump)
        while self.done["kills"] < kills:
            self._feed()
            self._replace()
            self._pass_time(self._chance.random() * 0.6)
            self.kill()
            if self.done["kills"] % 5 == 0:
                self._replace()
                self._pass_time(0.5)
                others[self.done["kills"] // 5 % len(others)]()
            self._wake()
            self._answer()
        self._pass_time(0.1)
        for _, worker in self._stopped:
            worker.signal(signal.SIGCONT)
        self._stopped.clear()

    def kill(self) -> None:
        """Kill a worker; nobody of its name ever comes back."""
        worker = self._chance.choice(self.trial.workers)
        if any(worker is each for _, each in self._stopped):
            return
        self.trial.kill(worker)
        self.done["kills"] += 1

    def stop(self) -> None:
        """Stop a worker until others have taken its runs, and then let it go on."""
        if len(self._stopped) < 1:
            worker = self.trial.workers[0]
            self.trial.excuse()
            worker.signal(signal.SIGSTOP)
            assert isinstance(worker, Process)
            self._stopped.append((time.monotonic() + 8, worker))
            self.done["stops"] += 1

    def cut(self) -> None:
        """End all connections of the server."""
        self.done["connections cut"] += self.server.cut_connections()

    def restart(self) -> None:
        """Stop the server at once, and start it a second later."""
        self.server.stop("immediate")
        time.sleep(1)
        self.server.start()
        self.done["restarts"] += 1

    def fill(self) -> None:
        """Fill the disk of the server for some seconds."""
        ballast = self.server.folder / "ballast"
        with suppress(OSError), ballast.open("wb") as opened:
            while True:
                opened.write(b"\0" * 65536)
                opened.flush()
        time.sleep(3)
        ballast.unlink()
        if not self.server.is_running():
            self.done["crashes of the full server"] += 1
            self._try(self.server.start)
        self.done["full disks"] += 1

    def jump(self) -> None:
        """Let the clock of some workers jump."""
        self._shifts += 1
        driver = self.trial.driver
        assert isinstance(driver, ShiftedDriver)
        driver.set_clock(_JUMPS[self._shifts % len(_JUMPS)])
        self.done["jumps of the clock"] += 1

    def _feed(self) -> None:
        """Submit runs until some are under way."""
        trial = self.trial
        while len(trial.submitted) - trial.ended_so_far < OPEN:
            sample = self._samples[len(trial.submitted) % len(self._samples)]
            self._try(partial(trial.submit, sample, len(trial.submitted)))

    def _wake(self) -> None:
        due = [each for each in self._stopped if each[0] < time.monotonic()]
        for each in due:
            each[1].signal(signal.SIGCONT)
            self._stopped.remove(each)

    def _replace(self) -> None:
        while len(self.trial.workers) < WORKERS + len(self._stopped):
            self.trial.start_worker()

    def _pass_time(self, seconds: float) -> None:
        """Let workers work: a while, and until somebody has asked for something."""
        count = self.trial.log.count
        time.sleep(seconds)
        until = time.monotonic() + 5
        while (
            self.trial.log.count == count
            and time.monotonic() < until
            and self.trial.ended_so_far < len(self.trial.submitted)
        ):
            time.sleep(0.05)

    def _answer(self) -> None:
        """Let people answer what they can."""
        for run in self.trial.submitted:
            self._try(partial(self._answer_one, run))

    def _answer_one(self, run: str) -> None:
        self.trial.answer_questions(run, self.trial.follow(run))

    def _try(self, act: Callable[[], object]) -> None:
        with suppress(Failure, PostgresError):
            act()


def weather(kills: int, seed: int) -> tuple[Mapping[str, float], list[str]]:
    """Let a storm with so many kills pass; return what has happened, and what is wrong with the runs."""
    chance, begun = random.Random(seed), time.monotonic()  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True) as folder:
        disk = Path(folder, "disk")
        disk.mkdir()
        Path(folder).chmod(0o755)
        with small_disk(disk), postgres.open_own({"fsync": "off", "max_wal_size": "32MB"}, disk / "server") as server:
            driver = ShiftedDriver(Path(folder), server.create_database())
            with on_trial(driver, Path(folder), pace=5) as trial:
                storm = Storm(trial, server, chance)
                storm.rage(kills)
                try:
                    trial.finish()
                except AssertionError as error:
                    records = driver.store.list_records([each for each in RunPhase if each not in ENDED])
                    stood = [f"{each.run} is {each.phase}, {each.reason!r}" for each in records]
                    raise AssertionError(f"{error}; after {dict(storm.done)}; {stood}") from error
                faults, events = trial.find_faults(), sum(trial.count_events(run) for run in trial.submitted)
            driver.close()
    told = {"seconds": round(time.monotonic() - begun), "runs": len(trial.submitted), "events": events, **storm.done}
    return told, faults


def main(words: Sequence[str]) -> None:
    """Let a storm pass with so many kills, and print what happened."""
    kills = int(words[0])
    told, faults = weather(kills, int(words[1]) if words[1:] else 1)
    sys.stdout.write(json.dumps({**told, "faults": faults[:20]}, indent=2) + "\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(sys.argv[1:])
