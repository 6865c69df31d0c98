"""Runs of the example of a stage plan, killed again and again: what is on the disk, and which stages ran how often."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import nursery

from stagec.runtime.drivers.local import JournalError, read_journal

TOP = Path(__file__).parents[2]
EXAMPLE = TOP / "registries" / "wine-quality"
LAST = "S08_notify_team"
"""The stage that is not retryable."""
_PASSED = "WINE_PAUSE"
PAUSE = "0.02"
"""Seconds that the long stage waits after each of its forty steps."""
COUNTED = """\
import os, runpy, sys

def note(word):
    with open(os.path.join("log", os.environ["STAGEC_RUN_ID"]), "ab", buffering=0) as log:
        log.write(f"{word} {os.environ['STAGEC_STAGE_ID']}\\n".encode())

del sys.argv[0]
sys.path.insert(0, "scripts")
note("begin")
runpy.run_path(sys.argv[0], run_name="__main__")
note("end")
"""
"""Runs a script of a stage, and appends to a log outside of the run that it begins and ends."""
Files = dict[str, str]


class Kill(NamedTuple):
    """One kill of a process that executed a run: whether the run had begun and not ended, and what was wrong then."""

    run: str
    inside: bool
    running: tuple[str, ...]
    faults: tuple[str, ...]


class Killed(NamedTuple):
    """A run that was killed until it came to its end: the kills, and what is wrong at the end."""

    kills: tuple[Kill, ...]
    faults: tuple[str, ...]


class Winery:
    """A copy of the example whose stages keep a log, its plan, and what a run leaves that nobody disturbs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "wine-quality"
        shutil.copytree(EXAMPLE, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        plan = self.folder / "plan.yaml"
        counted = f"[{json.dumps(sys.executable)}, counted.py, "
        plan.write_text(plan.read_text(encoding="utf-8").replace("[python3, ", counted), encoding="utf-8")
        (self.folder / "counted.py").write_text(COUNTED, encoding="utf-8")
        (self.folder / "log").mkdir()
        self.finish(self.start("compile", ".", "-o", "plan.json"))
        begun = time.monotonic()
        self.finish(self.start("run", "plan.json", "--run", "whole"))
        self.seconds = time.monotonic() - begun
        self.whole = self.published("whole")
        self.stages = sorted({path.partition("/")[0] for path in self.whole})

    def start(self, *arguments: str) -> nursery.Process:
        """Start a command of stagec in the folder."""
        around = nursery.environment(WINE_PAUSE=PAUSE, STAGEC_PASS_ENV=_PASSED)
        with Path(os.devnull).open("r+b") as nothing, (self.folder / "said").open("wb") as said:
            streams = (nothing.fileno(), nothing.fileno(), said.fileno())
            return nursery.start(arguments, self.folder, around, streams)

    def finish(self, process: nursery.Process, *known: int) -> int:
        """Wait for the end of a command; return its status, which must be 0 or one of the known ones."""
        status = process.wait(300)
        assert status in {0, *known}, self.read_said()
        return status

    def read_said(self) -> str:
        """Return what the last command has said on its standard error."""
        return (self.folder / "said").read_text(encoding="utf-8", errors="replace")

    def place(self, run: str) -> Path:
        """Return the directory of a run."""
        return self.folder / "reports" / "wine-quality" / run

    def published(self, run: str) -> Files:
        """Return the digests of all that the stages of a run have published, by path."""
        top = self.place(run)
        found = (each for stage in top.glob("S*") for each in stage.rglob("*") if each.is_file())
        return {each.relative_to(top).as_posix(): sha256(each.read_bytes()).hexdigest() for each in found}

    def checkpoints(self, run: str) -> set[str]:
        """Return the stages that have a checkpoint as completed."""
        return {stage for stage in self.stages if (self.place(run) / "checkpoints" / f"ckpt-{stage}.json").exists()}

    def counts(self, run: str, word: str) -> Counter[str]:
        """Return how often each stage of a run began, or ended."""
        with suppress(FileNotFoundError):
            lines = (self.folder / "log" / run).read_text(encoding="utf-8").splitlines()
            return Counter(line.partition(" ")[2] for line in lines if line.startswith(word))
        return Counter()

    def has_begun(self, run: str) -> bool:
        """Tell whether a journal says that a run has begun."""
        with suppress(JournalError):  # of a run that is being begun, or executed, nothing can be read
            return bool(read_journal(self.folder / ".stagec" / "runs" / f"{run}.run").events)
        return (self.place(run) / ".attempts").exists()

    def find_torn(self, run: str) -> Iterator[str]:
        """Yield what is published of a run in part, or otherwise than in the run that nobody disturbs."""
        found = self.published(run)
        for stage in {path.partition("/")[0] for path in found}:
            own, whole = (
                {path: digest for path, digest in files.items() if path.startswith(f"{stage}/")}
                for files in (found, self.whole)
            )
            if own != whole:
                yield f"{run}: what {stage} has published is {sorted(own)}, and should be {sorted(whole)}"


def killed(winery: Winery, run: str, chance: random.Random, most: int = 4) -> Killed:
    """Begin a run, kill it up to so many times, let it come to its end, and say what is wrong."""
    kills: list[Kill] = []
    faults: list[str] = []
    for _ in range(most):
        kept, before = winery.checkpoints(run), winery.counts(run, "begin")
        process = _proceed(winery, run)
        _wait(winery, run, process, chance)
        process.kill()
        status = process.wait()
        faults += _find_repeated(winery, run, kept, before)
        if status != -signal.SIGKILL:
            faults += [] if status in {0, 1} else [f"{run}: {winery.read_said()}"]
            break
        kills.append(_look(winery, run))
    faults += _complete(winery, run)
    return Killed(tuple(kills), tuple(faults))


def _proceed(winery: Winery, run: str, *options: str) -> nursery.Process:
    """Begin a run, or resume it once it has begun."""
    if winery.has_begun(run):
        return winery.start("resume", run, *options)
    return winery.start("run", "plan.json", "--run", run)


def _wait(winery: Winery, run: str, process: nursery.Process, chance: random.Random) -> None:
    """Wait for a moment in the middle of a run; in one case of ten it may not have begun."""
    limit = time.monotonic() + winery.seconds * (0.1 if chance.random() < 0.1 else 10)
    while not winery.has_begun(run) and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.01)
    is_long = "S04_train_ridge" not in winery.checkpoints(run)
    time.sleep(winery.seconds * (0.7 if is_long else 0.3) * chance.random())


def _look(winery: Winery, run: str) -> Kill:
    """Look at what a process that was killed has left, a second later at most."""
    until = time.monotonic() + 1
    while (alive := _alive(run)) and time.monotonic() < until:
        time.sleep(0.01)
    faults = [f"{run}: {pid} is still alive" for pid in alive]
    for pid in alive:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    faults += winery.find_torn(run)
    begun, ended = winery.counts(run, "begin"), winery.counts(run, "end")
    running = tuple(sorted(stage for stage in begun if begun[stage] > ended[stage]))
    inside = winery.has_begun(run) and len(winery.checkpoints(run)) < len(winery.stages)
    return Kill(run, inside, running, tuple(faults))


def _complete(winery: Winery, run: str) -> Iterator[str]:
    """Let a run come to its end, and yield what is wrong with it."""
    kept, before = winery.checkpoints(run), winery.counts(run, "begin")
    if len(kept) < len(winery.stages):
        status = winery.finish(_proceed(winery, run), 1)
        if status and winery.checkpoints(run) != {*winery.stages} - {LAST}:
            yield f"{run}: it ended as failed before the stage that may not run again"
        if status:
            winery.finish(_proceed(winery, run, "--consent", LAST))
    yield from _find_repeated(winery, run, kept, before)
    if winery.published(run) != winery.whole:
        yield f"{run}: what is published is not that of a run that nobody disturbs"
    yield from winery.find_torn(run)
    yield from (f"{run}: {pid} is left" for pid in _alive(run))


def _find_repeated(winery: Winery, run: str, kept: set[str], before: Counter[str]) -> Iterator[str]:
    """Yield the stages that had a checkpoint, and have begun again since."""
    again = winery.counts(run, "begin") - before
    yield from (f"{run}: {stage} was completed, and ran again" for stage in sorted(kept & again.keys()))


def _alive(run: str) -> set[int]:
    """Return the processes that the stages of a run have started: they have its name in their environment."""
    wanted = f"STAGEC_RUN_ID={run}\0".encode()
    found = set()
    for each in os.listdir("/proc"):
        if each.isdigit():
            with suppress(OSError):
                if wanted in Path(f"/proc/{each}/environ").read_bytes():
                    found.add(int(each))
    return found
