"""Growth of the commands that look at whole flows: the worst of all shapes and commands, for twice the size."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks._scaling.pipelines import PIPELINES
from stagec_dev.cost import Benchmark, MeasuredProgram

_COMMANDS = ("paths", "bounds", "permissions", "handbook", "diff", "review")
_SHAPES = {"ways on": 400, "cases": 2_000, "siblings": 100, "joins": 125}
"""Chains, decisions, forks and diamonds, with the larger of their two sizes."""


def _measure(folder: Path) -> tuple[float, float]:
    costs = [
        (_cost(folder, shape, size, command), _cost(folder, shape, size // 2, command))
        for shape, size in _SHAPES.items()
        for command in _COMMANDS
    ]
    return max(costs, key=lambda each: each[0] / each[1])


def _cost(folder: Path, shape: str, size: int, command: str) -> float:
    """Return the processor time of a command on a flow, which comparisons set beside one whose ways lead elsewhere."""
    files = next(each.files for each in PIPELINES.rows if each.title == shape)(size, faulty=False)
    now, before = folder / f"{shape}-{size}", folder / f"{shape}-{size}-before"
    for name, text in files.items():
        data = text if isinstance(text, bytes) else text.encode()
        for root, written in ((now, data), (before, data.replace(b'["second"]', b"[]"))):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(written)
    more = {
        "handbook": ("-o", f"{now}-pages"),
        "diff": (str(before), "."),
        "review": (".", "--against", str(before)),
    }
    argv = (sys.executable, "-m", "stagec", command, *more.get(command, ()))
    return MeasuredProgram(argv, now, runs=1).seconds()


GROWING_FLOWS = Benchmark("flows of twice the size", "flows of half of it", _measure, wish=2.5)
