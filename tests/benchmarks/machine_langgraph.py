"""The machine in memory against LangGraph on the same graph."""

from __future__ import annotations

from pathlib import Path

from benchmarks._machines import langgraph, memory
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return memory(folder, 4_000), langgraph(folder, 1_000, saved=False)


MACHINE_LANGGRAPH = Benchmark(
    "machine: a transition in memory, beside LangGraph", "LangGraph, in memory", _measure, wish=0.1
)
