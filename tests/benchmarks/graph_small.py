"""Questions about a flow of 10,000 nodes: compact integers against networkx."""

from __future__ import annotations

from pathlib import Path

from benchmarks._graphs import COMPACT, NETWORKX, seconds
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return seconds(folder, 10_000, "near", COMPACT), seconds(folder, 10_000, "near", NETWORKX)


GRAPH_SMALL = Benchmark("questions about 10,000 nodes", "the same through networkx", _measure, wish=0.4)
