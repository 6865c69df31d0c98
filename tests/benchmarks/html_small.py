"""A drawing of 1,000 nodes as a page, against the seconds that it may take."""

from __future__ import annotations

from pathlib import Path

from benchmarks._pictures import seconds
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return seconds(folder, 1_000), 3.0


HTML_SMALL = Benchmark("page of 1,000 nodes", "allowed", _measure, wish=1.0)
