"""Dominators where every node leads to one closure: Semi-NCA against networkx, whose algorithm is quadratic there."""

from __future__ import annotations

from pathlib import Path

from benchmarks._graphs import COMPACT, NETWORKX, seconds
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    own, other = (seconds(folder, 3_000, "closure", each, "dominators") for each in (COMPACT, NETWORKX))
    return own, other


GRAPH_CLOSURE_NETWORKX = Benchmark("dominators of 3,000 nodes with one closure", "networkx", _measure, wish=0.1)
