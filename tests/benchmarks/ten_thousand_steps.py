"""A large registry: all that stagec checks against parsing the same bytes."""

from __future__ import annotations

from pathlib import Path

from benchmarks._registries import JSON_LOADS, enlarge
from stagec_dev.cost import Benchmark, python, validate


def _measure(folder: Path) -> tuple[float, float]:
    project = enlarge(folder, 10_000)
    return validate(project, runs=3).seconds(), python(JSON_LOADS, project, runs=3).seconds()


TEN_THOUSAND_STEPS = Benchmark(
    "validate 10,000 steps",
    "json.loads of the same bytes",
    _measure,
    wish=8.0,
    project=lambda folder: folder / "of-10000",
)
