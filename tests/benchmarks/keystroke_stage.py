"""A keystroke in one of twenty stage files: until an editor has the findings, against `stagec validate`."""

from __future__ import annotations

from pathlib import Path

from benchmarks._keystrokes import measure_keystrokes
from benchmarks._pipelines import write_stages
from stagec_dev.cost import Benchmark, validate


def _measure(folder: Path) -> tuple[float, float]:
    project = folder / "twenty"
    write_stages(project, 20)
    return measure_keystrokes(project, "stages/part-010.md", "backoff"), validate(project).seconds()


KEYSTROKE_STAGE = Benchmark("95 % of keystrokes in a stage of 20", "stagec validate", _measure, wish=0.15)
