"""How late the page shows events, at 50 of them a second: in 200 runs, against all of them in one run."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks._pages import measure_page
from stagec_dev.cost import Benchmark


def _measure(folder: Path) -> tuple[float, float]:
    """Return the 95th percentiles; all figures go to standard error."""
    found = []
    for runs in (200, 1):
        (folder / str(runs)).mkdir(exist_ok=True)
        found.append(measure_page(folder / str(runs), runs, 50, 30))
        sys.stderr.write(f"{runs} runs: {found[-1]}\n")
    return found[0].late, found[1].late


PAGE = Benchmark("page: 50 events/s in 200 runs are shown", "50 events/s in one run", _measure, wish=2)
