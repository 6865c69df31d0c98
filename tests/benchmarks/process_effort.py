"""What stagec itself does for one stage: inputs, attempt, watchdog, output, digests, publication and checkpoint."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks._processes import run_stages
from stagec_dev.cost import Benchmark

_STAGES = 30
_WISH = 0.005


def _measure(folder: Path) -> tuple[float, float]:
    """Return the processor time of this process alone; that of the stages is theirs."""
    effort = run_stages(folder, _STAGES + 1)
    next(effort)()  # imports
    begun = time.process_time()
    for publish in effort:
        publish()
    return (time.process_time() - begun) / _STAGES, _WISH


PROCESS_EFFORT = Benchmark("processes: effort of stagec for a stage", "five milliseconds", _measure, wish=1)
