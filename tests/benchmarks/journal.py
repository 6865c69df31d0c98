"""The machine with its journal against a bare loop of commits of the same durability, by the clock on the wall."""

from __future__ import annotations

from pathlib import Path

from benchmarks._machines import bare, journaled
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return journaled(folder, 2_000), bare(folder, 2_000)


JOURNAL = Benchmark("journal: a transition on the disk", "a commit of a bare loop", _measure, wish=1.11)
