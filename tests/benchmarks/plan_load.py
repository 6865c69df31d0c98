"""Loading and checking a plan of 1 MB against reading the same bytes as JSON."""

from __future__ import annotations

from pathlib import Path

from benchmarks._plans import seconds, written
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    plan = written(folder, 950)
    return seconds(plan, "load(data)"), seconds(plan, "json.loads(data)")


PLAN_LOAD = Benchmark("plan of 1 MB: load", "json.loads of it", _measure, wish=3.0)
