"""What a runner waits for before it can read a plan, over a bare interpreter, against the 30 ms that it may take."""

from __future__ import annotations

from pathlib import Path

from stagec_dev.cost import Benchmark, python


def _measure(folder: Path) -> tuple[float, float]:
    imported, bare = (python(code, folder, runs=15).seconds() for code in ("import stagec.ir.plan", "pass"))
    return imported - bare, 0.03


PLAN_IMPORT = Benchmark("start: import stagec.ir.plan", "allowed over bare Python", _measure, wish=1.0)
