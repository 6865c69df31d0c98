"""A real agent that nobody has changed: its result is known."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks._registries import agent
from stagec_dev.cost import Benchmark, MeasuredProgram


def _measure(folder: Path) -> tuple[float, float]:
    schema = Path(os.environ["STAGEC_CORPUS"]) / "schemas" / "steps_registry.schema.json"
    checker = str(Path(sys.executable).with_name("check-jsonschema"))
    around = {"XDG_CACHE_HOME": str(folder), "STAGEC_NO_CACHE": ""}
    validate = MeasuredProgram((sys.executable, "-m", "stagec", "validate", str(agent())), folder, 15, around)
    validate.seconds()  # keeps the result
    other = MeasuredProgram((checker, "--schemafile", str(schema), str(agent() / "steps_registry.json")), folder)
    return validate.seconds(), other.seconds()


CACHED = Benchmark(
    "validate a real agent again", "check-jsonschema on its registry", _measure, wish=0.25, project=lambda _: agent()
)
