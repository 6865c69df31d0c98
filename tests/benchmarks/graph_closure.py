"""Dominators where every node leads to one closure: ten times the nodes should take about ten times as long."""

from __future__ import annotations

from pathlib import Path

from benchmarks._graphs import COMPACT, seconds
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    many, few = (seconds(folder, count, "closure", COMPACT, "dominators") for count in (200_000, 20_000))
    return many, few


GRAPH_CLOSURE = Benchmark("dominators of 200,000 nodes with one closure", "of 20,000 nodes", _measure, wish=14.0)
