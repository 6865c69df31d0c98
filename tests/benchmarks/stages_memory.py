"""Memory: the peak of three hundred stages and a thousand steps, against what they may take."""

from __future__ import annotations

from pathlib import Path

from benchmarks._pipelines import STAGES, STEPS, project
from stagec_dev.cost import Benchmark, validate

_MOST = 120.0


def _measure(folder: Path) -> tuple[float, float]:
    return validate(project(folder), runs=1).peak() / 1e6, _MOST


STAGES_MEMORY = Benchmark(
    f"peak memory of {STAGES} stages and {STEPS:,} steps", "allowed", _measure, unit="MB", wish=1.0
)
