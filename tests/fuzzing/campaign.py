"""Uses the inputs of many seeds, and keeps what no input may bring about: exceptions, time that runs out, memory."""

from __future__ import annotations

import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from fuzzing.targets import TARGETS, CrashError

KEPT = Path(__file__).parent / "kept"
"""Inputs that once were crashes, a folder for each target; the test run uses every one of them."""
SECONDS = 10
"""Processor time for one input; a kilobyte or ten take milliseconds."""
GIGABYTES = 2


class Crash(NamedTuple):
    """A target, the seed whose input did it, what happened, and the input."""

    target: str
    seed: int
    what: str
    data: bytes


def campaign(target: str, seeds: range) -> Iterator[Crash]:
    """Yield the crashes among the inputs of some seeds."""
    for seed in seeds:
        data = TARGETS[target].make(Random(f"{target} {seed}"))
        what = used(target, data)
        if what:
            yield Crash(target, seed, what, data)


def used(target: str, data: bytes) -> str:
    """Use one input and return what went wrong, nothing if nothing did."""
    before = signal.signal(signal.SIGPROF, _late)
    with TemporaryDirectory() as folder:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            TARGETS[target].use(data, Path(folder))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of a library is no Exception
            last = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {str(error)[-1_500:]} ({last.filename}:{last.lineno})"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    return ""


def limited() -> None:
    """Let this process have so much memory and no more."""
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))


def kept(target: str) -> list[Path]:
    """Return the inputs that are kept of a target."""
    return sorted((KEPT / target).glob("*"))


def _late(_signal: int, _frame: object) -> None:
    raise CrashError(f"more than {SECONDS} seconds of processor time")


def told(crash: Crash, folder: Path) -> str:
    """Keep the input of a crash in a folder and return a line about it."""
    file = folder / crash.target / f"seed-{crash.seed}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(crash.data)
    return f"{crash.target} {crash.seed}: {crash.what}\n    kept as {file}"


def main(target: str, seeds: range, folder: Path) -> int:
    """Print the crashes of some seeds and keep their inputs; return how many there were."""
    limited()
    found = 0
    for crash in campaign(target, seeds):
        print(told(crash, folder), flush=True)
        found += 1
    sys.stdout.write(f"{target}: {len(seeds):,} seeds, {found} crashes\n")
    return found
