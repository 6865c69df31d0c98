"""Writing the plan of 10,000 steps against writing the same value as plain JSON."""

from __future__ import annotations

from pathlib import Path

from benchmarks._plans import seconds, written
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    plan = written(folder, 10_000)
    return seconds(plan, "dump(plan)"), seconds(plan, "json.dumps(value, sort_keys=True, ensure_ascii=False)")


PLAN_DUMP = Benchmark("plan of 10,000 steps: dump", "json.dumps of it", _measure)
