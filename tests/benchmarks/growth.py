"""Growth: ten times the steps should take about ten times as long."""

from __future__ import annotations

from pathlib import Path

from benchmarks._registries import enlarge
from stagec_dev.cost import Benchmark, validate


def _measure(folder: Path) -> tuple[float, float]:
    few, many = enlarge(folder, 10_000), enlarge(folder, 100_000)
    return validate(many, runs=1).seconds(), validate(few, runs=1).seconds()


GROWTH = Benchmark(
    "validate 100,000 steps", "validate 10,000 steps", _measure, wish=14.0, project=lambda folder: folder / "of-100000"
)
