"""Questions about a large flow: compact integers against networkx."""

from __future__ import annotations

from pathlib import Path

from benchmarks._graphs import COMPACT, NETWORKX, seconds
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return seconds(folder, 100_000, "near", COMPACT), seconds(folder, 100_000, "near", NETWORKX)


GRAPH = Benchmark("questions about 100,000 nodes", "the same through networkx", _measure, wish=0.4)
