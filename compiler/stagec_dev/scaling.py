"""How cost grows with input: one dimension at three sizes, each twice the one before, for each command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from stagec.core.value import value
from stagec_dev.cost import environment

STEEPEST = 2.5
"""What doubling the input may multiply processor time or memory by."""
MOST_MEMORY = 500e6
"""Bytes that the largest size of a dimension, at most about 1 MB, may take."""
MOST_SECONDS = 3.0
"""Processor time that the largest size may take."""
_SMALLEST = 4
_NOTICED, _NOTICED_MEMORY = 0.25, 80e6
"""Growth below these is lost in what starting Python costs, and in the memory that it then leaves free: no ratio is
taken of it."""
_RUNS = 4
_SECONDS, _ADDRESSES = 30, 3 << 30
"""Where a run is cut off."""

_VALIDATE = ("validate", "--format")
_GRAPH = ("graph", "-o", "drawn", "--format")
_ON_PROJECTS: Mapping[str, tuple[str, ...]] = {
    **{f"validate {each}": (*_VALIDATE, each) for each in ("text", "concise", "json")},
    **{f"graph {each}": (*_GRAPH, each) for each in ("dot", "mermaid", "json", "html")},
    "compile": ("compile", "-o", "plans/"),
    "verify": ("verify",),
    "bounds": ("bounds",),
    "paths": ("paths",),
    "permissions": ("permissions",),
    "handbook": ("handbook", "-o", "handbook"),
    "format": ("format", "--check"),
    "diff": ("diff", "BEFORE", "."),
    "review": ("review", "--against", "BEFORE", "--format", "markdown"),
}
PROJECT_COMMANDS = tuple(_ON_PROJECTS)
COMMANDS: Mapping[str, tuple[str, ...]] = {
    **_ON_PROJECTS,
    "test": ("test",),
    "markers": ("markers", "log"),
    "checkpoint verify": ("checkpoint", "verify", "reports"),
}
"""What is run, by its title; `verify` takes the plans that `compile` has written. `BEFORE` is the smaller project."""

# A process begins with the peak of the one that started it, so a small one stands between this and the one measured.
_WATCH = f"""
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({_ADDRESSES}, {_ADDRESSES}))
quiet = subprocess.DEVNULL
status = subprocess.run(sys.argv[1:], stdin=quiet, stdout=quiet, stderr=quiet).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""

Files = Mapping[str, str | bytes]
"""The texts of a project, by path."""


class Maker(Protocol):
    """Makes a project of a size."""

    def __call__(self, count: int, *, faulty: bool) -> Files:
        """Return the files of a project with so many of something, all of them wrong in the faulty variant."""


@value
class Dimension:
    """One thing that a project can have many of.

    `files` makes a project with so many. At `most`, the largest count, the file that grows has between 0.3 and 1 MB,
    unless some limit of stagec is met before.
    """

    title: str
    files: Maker
    most: int
    commands: tuple[str, ...] = PROJECT_COMMANDS


@value
class Dimensions:
    """The dimensions of one subject."""

    rows: tuple[Dimension, ...]


@value
class Cost:
    """Processor time in seconds and peak memory in bytes of one run; `status` as the shell would tell it."""

    status: int
    seconds: float
    peak: float

    @property
    def whole(self) -> bool:
        """Whether the command ended by itself and not by a fault of stagec; 2 is a drawing that is too large."""
        return self.status in {0, 1, 2, 3}


@value
class Growth:
    """What a command costs with next to nothing, and with a quarter, half and all of the largest count."""

    costs: tuple[Cost, Cost, Cost, Cost]

    @property
    def time(self) -> float | None:
        """By what the last doubling multiplied the time beyond that of a tiny project; None where it is too little."""
        return _ratio([each.seconds for each in self.costs], _NOTICED)

    @property
    def memory(self) -> float | None:
        """The same of memory."""
        return _ratio([each.peak for each in self.costs], _NOTICED_MEMORY)

    @property
    def trouble(self) -> str:
        """What is wrong with it, nothing where all is well."""
        ended = next((each.status for each in self.costs if not each.whole), None)
        found = (
            (f"status {ended}", ended is not None),
            ("time", (self.time or 0) > STEEPEST),
            ("growing memory", (self.memory or 0) > STEEPEST),
            ("memory", self.costs[-1].peak > MOST_MEMORY),
            ("seconds", self.costs[-1].seconds > MOST_SECONDS),
        )
        return ", ".join(name for name, holds in found if holds)


def _ratio(figures: list[float], noticed: float) -> float | None:
    tiny, _, half, all_of_it = figures
    if all_of_it - tiny < noticed or all_of_it <= half:
        return None
    return (all_of_it - tiny) / max(half - tiny, 0.01 * (all_of_it - tiny))


def measure(dimension: Dimension, command: str, folder: Path, *, faulty: bool) -> Growth | None:
    """Run a command at each size, again where it seems too steep: the least of several runs counts.

    Return nothing where there is no plan to verify.
    """
    counts = (_SMALLEST, dimension.most // 4, dimension.most // 2, dimension.most)
    places = [_write(folder / f"{count}-{faulty}", dimension.files(count, faulty=faulty)) for count in counts]
    vectors = [_vector(command, *each) for each in zip(places, (places[0], *places), strict=False)]
    if None in vectors:
        return None
    given = [(vector, place) for vector, place in zip(vectors, places, strict=True) if vector is not None]
    growth = _measure_growth([[_run(*each)] for each in given])
    known = [[each] for each in growth.costs]
    while growth.trouble and len(known[0]) < _RUNS and all(each.whole for each in growth.costs):
        known = [[*runs, _run(*each)] for runs, each in zip(known, given, strict=True)]
        growth = _measure_growth(known)
    return growth


def _measure_growth(runs: list[list[Cost]]) -> Growth:
    def least(of: list[Cost]) -> Cost:
        return Cost(max(each.status for each in of), min(each.seconds for each in of), min(each.peak for each in of))

    tiny, quarter, half, all_of_it = (least(each) for each in runs)
    return Growth((tiny, quarter, half, all_of_it))


def _write(folder: Path, files: Files) -> Path:
    """Write a project into a folder, unless it is there from the command before."""
    for name, text in () if folder.exists() else files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def _vector(command: str, folder: Path, before: Path) -> tuple[str, ...] | None:
    """Return the arguments of stagec, with a smaller project to compare with; None where there is no plan to verify."""
    if command != "verify":
        return tuple(str(before) if each == "BEFORE" else each for each in COMMANDS[command])
    if not (folder / "plans").exists():
        _run(COMMANDS["compile"], folder)
    plans = sorted(str(each.relative_to(folder)) for each in folder.glob("plans/*.plan.json"))
    return ("verify", *plans) if plans else None


def _run(arguments: tuple[str, ...], folder: Path) -> Cost:
    argv = (sys.executable, "-c", _WATCH, sys.executable, "-m", "stagec", *arguments)
    done = subprocess.run(argv, cwd=folder, env=environment(), capture_output=True, check=True)
    status, seconds, peak = done.stdout.split()
    return Cost(int(status) % 256, float(seconds), float(peak))
