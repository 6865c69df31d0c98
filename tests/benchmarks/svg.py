"""A drawing of 250 boxes and lines as SVG, against the layout of the same boxes and lines by Graphviz."""

from __future__ import annotations

from pathlib import Path

from benchmarks._pictures import GRAPHVIZ, IMAGE, seconds
from stagec_dev.cost import Benchmark

NODES = 83
"""With 165 lines between them."""


def _measure(folder: Path) -> tuple[float, float]:
    return seconds(folder, NODES, IMAGE), seconds(folder, NODES, GRAPHVIZ)


SVG = Benchmark("svg of 250 boxes and lines", "laid out by dot", _measure, wish=1.0)
