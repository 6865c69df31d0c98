"""Memory: what a large registry adds to the peak of a small one, against the size of its file."""

from __future__ import annotations

from pathlib import Path

from benchmarks._registries import enlarge
from stagec_dev.cost import Benchmark, validate


def _measure(folder: Path) -> tuple[float, float]:
    small, large = enlarge(folder, 10), enlarge(folder, 50_000)
    size = (large / "steps_registry.json").stat().st_size
    return (validate(large, runs=1).peak() - validate(small, runs=1).peak()) / 1e6, size / 1e6


MEMORY = Benchmark("peak memory of 50,000 steps", "size of the file", _measure, unit="MB", wish=8.0)
