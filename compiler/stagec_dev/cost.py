"""The cost of a program: processor time and peak memory of a child process, medians of several runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from resource import struct_rusage
from statistics import median
from typing import Protocol

from stagec.core.value import NOTHING, value
from stagec_dev.checkout import ROOT

RUNS = 5
"""Runs of which the median is taken, where nothing else is said."""


_COST_VALIDATE = """
from pathlib import Path
from stagec.core.budgets import Budgets
from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings
unbounded = Budgets(file_size=1 << 40, nodes=1 << 40)
compilation = compile_project(Project(Path.cwd(), (Path.cwd(),), Settings(budgets=unbounded)), search_briefly)
"""


_FREEZE = """
import gc
from pathlib import Path
from stagec.cli.plans import Freezer
from stagec.core.budgets import Budgets
from stagec.sources.project.configuration import Configuration
from stagec.sources.project.settings import Settings
gc.disable()  # as the command does
unbounded = Settings(budgets=Budgets(file_size=1 << 40, nodes=1 << 40))
freezer = Freezer(Configuration(Path.cwd(), unbounded, {}, None), (Path.cwd(),))
for meaning in freezer.compilation.meanings:
    Path("frozen.json").write_bytes(freezer.freeze(meaning).data)
Path("frozen.json").unlink()
"""


# A process begins with the peak of the one that started it, so a small one stands between this and the one measured.
_COST_WATCH = """
import resource, subprocess, sys
quiet = subprocess.DEVNULL
status = subprocess.run(sys.argv[1:], stdout=quiet, stderr=quiet).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status not in {0, 1})
"""


class NoBaselineError(Exception):
    """The baseline of a benchmark is not installed; `str()` tells what is missing."""


@value
class MeasuredProgram:
    """An argument vector, the folder it starts in, how often it is run for one figure, and variables of its own."""

    argv: tuple[str, ...]
    folder: Path
    runs: int = RUNS
    variables: Mapping[str, str] = NOTHING

    def seconds(self) -> float:
        """Return the processor time of one run: user and system, its own children included."""
        return median(each.ru_utime + each.ru_stime for each in self._usages())

    def peak(self) -> float:
        """Return the most memory it held at once, in bytes."""
        argv = (sys.executable, "-c", _COST_WATCH, *self.argv)
        runs = (
            subprocess.run(argv, cwd=self.folder, env=environment(**self.variables), capture_output=True, check=True)
            for _ in range(self.runs)
        )
        return median(int(each.stdout) * 1024.0 for each in runs)

    def _usages(self) -> list[struct_rusage]:
        return [usage(self.argv, self.folder, self.variables) for _ in range(self.runs)]


def usage(argv: Sequence[str], folder: Path, variables: Mapping[str, str] = NOTHING) -> struct_rusage:
    """Run a program once and return what it used; an exit status above 1 is an error."""
    quiet = subprocess.DEVNULL
    running = subprocess.Popen(argv, cwd=folder, stdout=quiet, stderr=quiet, env=environment(**variables))
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode not in {0, 1}:
        raise RuntimeError(f"{' '.join(argv)} ended with {running.returncode}")
    return used


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which Python keeps what it compiled, as for users, and stagec no results."""
    kept = {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": str(ROOT / "compiler"), "STAGEC_NO_CACHE": "1", **more}


def python(code: str, folder: Path, *, runs: int = RUNS) -> MeasuredProgram:
    """Return the program that runs some lines of Python."""
    return MeasuredProgram((sys.executable, "-c", code), folder, runs)


def validate(folder: Path, *, runs: int = RUNS, then: str = "") -> MeasuredProgram:
    """Return the program that validates a folder with every budget lifted, as `stagec validate` would.

    `then` are lines of Python that ask something of the `compilation`.
    """
    return python(_COST_VALIDATE + then, folder, runs=runs)


def freeze(folder: Path, *, runs: int = RUNS) -> MeasuredProgram:
    """Return the program that validates a folder, freezes its flows and checks the plans, as `stagec compile` does."""
    return python(_FREEZE, folder, runs=runs)


@value
class Benchmark:
    """One figure next to a named baseline; `measure(folder)` returns both, measured in the same run in a fresh folder.

    `wish` is what the ratio should not exceed, and nothing when there is no opinion about it. `project(folder)` returns
    where the project lies that was validated, if one was.
    """

    title: str
    baseline: str
    measure: Callable[[Path], tuple[float, float]]
    unit: str = "s"
    wish: float | None = None
    project: Callable[[Path], Path] | None = None


STEEPEST = 2.5
"""The most by which a doubled input may multiply processor time or memory."""
MOST_MEMORY = 500e6
"""Bytes that the largest size of a dimension, at most about 1 MB, may take."""
MOST_SECONDS = 3.0
"""Processor time that the largest size may take."""
_LONGER: Mapping[str, float] = {"handbook": 5.0, "breaking": 6.0, "diff": 7.0, "review": 8.0, "paths": 15.0}
"""Commands that may take longer: they read two projects, execute thousands of nodes, or draw them."""
_SMALLEST = 4
_NOTICED, _NOTICED_MEMORY = 0.25, 80e6
"""Growth below these is lost in what starting Python costs, and in the memory that it then leaves free: no ratio is
taken of it."""
_RUNS = 4
_SECONDS, _ADDRESSES = 30, 3 << 30
"""The limits of a run."""


_SCALING_VALIDATE = ("validate", "--format")
_GRAPH = ("graph", "-o", "drawn", "--format")
_ON_PROJECTS: Mapping[str, tuple[str, ...]] = {
    **{f"validate {each}": (*_SCALING_VALIDATE, each) for each in ("text", "concise", "json")},
    **{f"graph {each}": (*_GRAPH, each) for each in ("dot", "mermaid", "json", "html")},
    "compile": ("compile", "-o", "plans/"),
    "verify": ("verify",),
    "bounds": ("bounds",),
    "paths": ("paths",),
    "permissions": ("permissions",),
    "handbook": ("handbook", "-o", "handbook"),
    "format": ("format", "--check"),
    "diff": ("diff", "BEFORE", "."),
    "breaking": ("breaking", "--against", "BEFORE"),
    "review": ("review", "--against", "BEFORE", "--format", "markdown"),
}
PROJECT_COMMANDS = tuple(_ON_PROJECTS)
COMMANDS: Mapping[str, tuple[str, ...]] = {
    **_ON_PROJECTS,
    "test": ("test",),
    "mutate": ("mutate", "--jobs", "1", "--limit", "100"),
    "markers": ("markers", "log"),
    "checkpoint verify": ("checkpoint", "verify", "reports"),
}
"""The commands, by title; `verify` takes the plans that `compile` has written. `BEFORE` is the smaller project."""


# A process begins with the peak of the one that started it, so a small one stands between this and the one measured.
_SCALING_WATCH = f"""
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
class MeasuredCost:
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
    """The cost of a command with next to nothing, and with a quarter, half and all of the largest count.

    `most` is the processor time that all of it may take.
    """

    costs: tuple[MeasuredCost, MeasuredCost, MeasuredCost, MeasuredCost]
    most: float = MOST_SECONDS

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
        """The excess of its cost, None without any."""
        ended = next((each.status for each in self.costs if not each.whole), None)
        found = (
            (f"status {ended}", ended is not None),
            ("time", (self.time or 0) > STEEPEST),
            ("growing memory", (self.memory or 0) > STEEPEST),
            ("memory", self.costs[-1].peak > MOST_MEMORY),
            ("seconds", self.costs[-1].seconds > self.most),
        )
        return ", ".join(name for name, holds in found if holds)


def _ratio(figures: list[float], noticed: float) -> float | None:
    tiny, _, half, all_of_it = figures
    if all_of_it - tiny < noticed or all_of_it <= half:
        return None
    return (all_of_it - tiny) / max(half - tiny, 0.01 * (all_of_it - tiny))


def measure(dimension: Dimension, command: str, folder: Path, *, faulty: bool) -> Growth | None:
    """Run a command at each size, again where it seems too steep: the least of several runs counts.

    Return None if there is no plan to verify.
    """
    counts = (_SMALLEST, dimension.most // 4, dimension.most // 2, dimension.most)
    places = [_write(folder / f"{count}-{faulty}", dimension.files(count, faulty=faulty)) for count in counts]
    vectors = [_vector(command, *each) for each in zip(places, (places[0], *places), strict=False)]
    if None in vectors:
        return None
    given = [(vector, place) for vector, place in zip(vectors, places, strict=True) if vector is not None]
    most = _LONGER.get(command, MOST_SECONDS)
    growth = _measure_growth([[_run(*each)] for each in given], most)
    known = [[each] for each in growth.costs]
    while growth.trouble and len(known[0]) < _RUNS and all(each.whole for each in growth.costs):
        known = [[*runs, _run(*each)] for runs, each in zip(known, given, strict=True)]
        growth = _measure_growth(known, most)
    return growth


def _measure_growth(runs: list[list[MeasuredCost]], most: float) -> Growth:
    def least(of: list[MeasuredCost]) -> MeasuredCost:
        return MeasuredCost(
            max(each.status for each in of), min(each.seconds for each in of), min(each.peak for each in of)
        )

    tiny, quarter, half, all_of_it = (least(each) for each in runs)
    return Growth((tiny, quarter, half, all_of_it), most)


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


def _run(arguments: tuple[str, ...], folder: Path) -> MeasuredCost:
    argv = (sys.executable, "-c", _SCALING_WATCH, sys.executable, "-m", "stagec", *arguments)
    done = subprocess.run(argv, cwd=folder, env=environment(), capture_output=True, check=True)
    status, seconds, peak = done.stdout.split()
    return MeasuredCost(int(status) % 256, float(seconds), float(peak))
