"""A keystroke in a registry of a thousand steps: until an editor has the findings, against `stagec validate`."""

from __future__ import annotations

from pathlib import Path

from benchmarks._keystrokes import measure_keystrokes
from benchmarks._registries import enlarge
from stagec_dev.cost import Benchmark, validate


def _measure(folder: Path) -> tuple[float, float]:
    project = enlarge(folder, 1_000)
    return measure_keystrokes(project, "steps_registry.json", "closure."), validate(project).seconds()


KEYSTROKE = Benchmark("95 % of keystrokes in 1,000 steps", "stagec validate", _measure, wish=0.35)
