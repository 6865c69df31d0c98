"""A real agent: all that stagec checks against only its registry's JSON Schema."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks._registries import agent
from stagec_dev.cost import Benchmark, MeasuredProgram, validate


def _measure(folder: Path) -> tuple[float, float]:
    schema = Path(os.environ["STAGEC_CORPUS"]) / "schemas" / "steps_registry.schema.json"
    checker = str(Path(sys.executable).with_name("check-jsonschema"))
    registry = str(agent() / "steps_registry.json")
    other = MeasuredProgram((checker, "--schemafile", str(schema), registry), folder)
    return validate(agent()).seconds(), other.seconds()


ONE_AGENT = Benchmark(
    "validate a real agent", "check-jsonschema on its registry", _measure, wish=0.5, project=lambda _: agent()
)
