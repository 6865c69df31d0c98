"""Twenty parallel stages whose model takes 100 ms, between two others, against three such answers in a row."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks._fans import Slow, fan, run_fan
from stagec_dev.cost import Benchmark

_LAYERS = 3


def _measure(folder: Path) -> tuple[float, float]:
    model, data = Slow(0.1), fan(20, 20)
    own = min(run_fan(folder, data, model).seconds for _ in range(5))
    begin = time.perf_counter()
    for _ in range(_LAYERS):
        time.sleep(model.seconds)
    return own, time.perf_counter() - begin


PARALLEL_MANY_BENCHMARK = Benchmark(
    "run 20 parallel stages of 100 ms between two others", "three times 100 ms", _measure, wish=1.15
)
