"""The machine in memory: one transition of a plan of 1,000 nodes against the fifty-thousandth part of a second."""

from __future__ import annotations

from pathlib import Path

from benchmarks._machines import memory
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return memory(folder, 4_000), 1 / 50_000


MACHINE = Benchmark("machine: a transition in memory", "50,000 each second", _measure, wish=1.0)
