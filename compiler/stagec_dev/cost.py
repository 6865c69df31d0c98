"""What a program costs: processor time and peak memory of a child process, medians of several runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from resource import struct_rusage
from statistics import median

from stagec.core.value import NOTHING, value
from stagec_dev.checkout import ROOT

RUNS = 5
"""Runs of which the median is taken, where nothing else is said."""

_VALIDATE = """
from pathlib import Path
from stagec.core.budgets import Budgets
from stagec.flow_tests.witness import search_briefly
from stagec.pipeline import Project, compile_project
from stagec.project.settings import Settings
unbounded = Budgets(file_size=1 << 40, nodes=1 << 40)
compilation = compile_project(Project(Path.cwd(), (Path.cwd(),), Settings(budgets=unbounded)), search_briefly)
"""

_FREEZE = """
import gc
from pathlib import Path
from stagec.cli.plans import Freezer
from stagec.core.budgets import Budgets
from stagec.project.configuration import Configuration
from stagec.project.settings import Settings
gc.disable()  # as the command does
unbounded = Settings(budgets=Budgets(file_size=1 << 40, nodes=1 << 40))
freezer = Freezer(Configuration(Path.cwd(), unbounded, {}, None), (Path.cwd(),))
for meaning in freezer.compilation.meanings:
    Path("frozen.json").write_bytes(freezer.freeze(meaning).data)
Path("frozen.json").unlink()
"""

# A process begins with the peak of the one that started it, so a small one stands between this and the one measured.
_WATCH = """
import resource, subprocess, sys
quiet = subprocess.DEVNULL
status = subprocess.run(sys.argv[1:], stdout=quiet, stderr=quiet).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status not in {0, 1})
"""


class NoBaselineError(Exception):
    """What a benchmark compares with is not installed; `str()` says what is missing."""


@value
class Program:
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
        argv = (sys.executable, "-c", _WATCH, *self.argv)
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


def python(code: str, folder: Path, *, runs: int = RUNS) -> Program:
    """Return the program that runs some lines of Python."""
    return Program((sys.executable, "-c", code), folder, runs)


def validate(folder: Path, *, runs: int = RUNS, then: str = "") -> Program:
    """Return the program that validates a folder with every budget lifted, as `stagec validate` would.

    `then` are lines of Python that ask something of the `compilation`.
    """
    return python(_VALIDATE + then, folder, runs=runs)


def freeze(folder: Path, *, runs: int = RUNS) -> Program:
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
