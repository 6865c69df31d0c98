"""Many agents: every rule judges every agent, and ninety more of them cost nine times what ten more do."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks._registries import agent
from stagec_dev.cost import Benchmark, validate


def _measure(folder: Path) -> tuple[float, float]:
    ten, twenty, hundred = (_seconds(folder, agents) for agents in (10, 20, 100))
    return hundred - ten, 9 * (twenty - ten)


def _seconds(folder: Path, agents: int) -> float:
    project = folder / f"of-{agents}"
    for copy in range(agents):
        shutil.copytree(agent(), project / f"agent-{copy}")
    return validate(project).seconds()


MANY_AGENTS = Benchmark("every rule on 90 more agents", "9 times every rule on 10 more", _measure, wish=1.2)
