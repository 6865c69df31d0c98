"""A drawing of 250 boxes and lines as SVG, against the seconds that it may take."""

from __future__ import annotations

from pathlib import Path

from benchmarks._pictures import IMAGE, seconds
from benchmarks.svg import NODES
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return seconds(folder, NODES, IMAGE), 3.0


SVG_ALLOWED = Benchmark("svg of 250 boxes and lines, against its limit", "allowed", _measure, wish=1.0)
