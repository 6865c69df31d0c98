"""The machine with its journal against LangGraph with its SQLite checkpoints."""

from __future__ import annotations

from pathlib import Path

from benchmarks._machines import journaled, langgraph
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    return journaled(folder, 1_000), langgraph(folder, 300, saved=True)


JOURNAL_LANGGRAPH = Benchmark(
    "journal: a transition on the disk, beside LangGraph", "LangGraph with its checkpoints", _measure, wish=1.0
)
