"""A large registry frozen: compiling it against only validating it."""

from __future__ import annotations

from pathlib import Path

from benchmarks._registries import enlarge
from stagec_dev.cost import Benchmark, freeze, validate


def _measure(folder: Path) -> tuple[float, float]:
    project = enlarge(folder, 10_000)
    return freeze(project, runs=3).seconds(), validate(project, runs=3).seconds()


COMPILE = Benchmark(
    "compile 10,000 steps",
    "validate the same steps",
    _measure,
    wish=3.5,
    project=lambda folder: folder / "of-10000",
)
