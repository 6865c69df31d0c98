"""A large stage plan: all that stagec checks, and its critical path, against parsing the same bytes."""

from __future__ import annotations

from pathlib import Path

from benchmarks._stage_plans import CRITICAL, JSON_LOADS, write_stage_plan
from stagec_dev.cost import Benchmark, python, validate


def _measure(folder: Path) -> tuple[float, float]:
    project = write_stage_plan(folder / "of-20000", 20_000)
    return validate(project, runs=3, then=CRITICAL).seconds(), python(JSON_LOADS, project, runs=3).seconds()


STAGE_PLAN = Benchmark(
    "validate 20,000 stages with 60,000 needs",
    "json.loads of the same bytes",
    _measure,
    wish=10.0,
    project=lambda folder: folder / "of-20000",
)
