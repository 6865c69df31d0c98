"""Start-up: the shortest useful run of stagec against importing its command-line library alone."""

from __future__ import annotations

import sys
from pathlib import Path

from stagec_dev.cost import Benchmark, MeasuredProgram, python


def _measure(folder: Path) -> tuple[float, float]:
    return MeasuredProgram((sys.executable, "-m", "stagec", "--version"), folder, 15).seconds(), python(
        "import click", folder, runs=15
    ).seconds()


START = Benchmark("start: stagec --version", "python -c 'import click'", _measure, wish=1.5)
