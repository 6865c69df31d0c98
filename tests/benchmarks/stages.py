"""Three hundred stages and a thousand steps: all that stagec checks against importing two of its libraries."""

from __future__ import annotations

from pathlib import Path

from benchmarks._pipelines import STAGES, STEPS, project
from stagec_dev.cost import Benchmark, python, validate


def _measure(folder: Path) -> tuple[float, float]:
    imports = python("import ruamel.yaml, click", folder, runs=9)
    return validate(project(folder)).seconds(), imports.seconds()


TITLE = f"validate {STAGES} stages and {STEPS:,} steps"
STAGES_BENCHMARK = Benchmark(
    TITLE, "python -c 'import ruamel.yaml, click'", _measure, wish=12.0, project=lambda folder: folder / f"of-{STEPS}"
)
