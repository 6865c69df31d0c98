"""Four stages whose model takes a moment, two of them parallel, against the same stages one after the other."""

from __future__ import annotations

from pathlib import Path

from benchmarks._fans import Slow, fan, run_fan
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    model = Slow(1.0)
    return run_fan(folder, fan(2, 2), model).seconds, run_fan(folder, fan(2, 1), model).seconds


PARALLEL_BENCHMARK = Benchmark(
    "run four stages of one second, two of them parallel", "the same one after the other", _measure, wish=0.8
)
