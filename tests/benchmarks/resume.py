"""`stagec resume` of a run with 10,000 events: each is read, played on the machine and compared with its digest."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks._machines import interrupt, transitions
from stagec_dev.cost import Benchmark, MeasuredProgram, python

_EVENTS = 10_000
_ARGUMENTS = ("resume", "long.run", "--scenario", "scenario.json")


def _measure(folder: Path) -> tuple[float, float]:
    interrupt(folder / "long.run", _EVENTS)
    journal = (folder / "long.run").read_bytes()

    def resume() -> float:
        (folder / "long.run").write_bytes(journal)  # a run that has ended is not resumed
        return MeasuredProgram((sys.executable, "-m", "stagec", *_ARGUMENTS), folder, runs=1).seconds()

    return min(resume() for _ in range(3)), python(transitions(_EVENTS), folder, runs=3).seconds()


RESUME = Benchmark("resume of 10,000 events", "as many transitions in memory", _measure, wish=3.5)
