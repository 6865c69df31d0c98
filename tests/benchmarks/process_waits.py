"""The publication of a stage with three outputs against as many bare writes that reach the disk, by the clock."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

from benchmarks._processes import SYNCS, run_stages, synchronise
from stagec_dev.cost import Benchmark

_STAGES = 20


def _measure(folder: Path) -> tuple[float, float]:
    """Let the two take turns: a disk that others use is sometimes fast and sometimes slow."""
    ours, bare = [], []
    for publish in run_stages(folder, _STAGES):
        begun = time.perf_counter()
        publish()
        ours.append(time.perf_counter() - begun)
        bare.append(synchronise(folder, SYNCS))
    return median(ours), median(bare)


PROCESS_WAITS = Benchmark("processes: publish a stage", f"{SYNCS} bare writes on the disk", _measure, wish=2)
