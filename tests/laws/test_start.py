"""Commands on small projects pay for nothing they do not need."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
HEAVY = (
    "anyio",
    "asyncio",
    "difflib",
    "graphviz",
    "jinja2",
    "jsonschema",
    "jsonschema_rs",
    "mcp",
    "networkx",
    "pathspec",
    "pydantic_ai",
    "referencing",
    "ruamel",
    "stagec.check.rules.checkpoints",
    "stagec.check.rules.markers",
    "yaml",
    "tomllib",
)
PROBE = """
import json, sys
from stagec.cli.app import run
status = run(sys.argv[1:])
print(json.dumps({"status": status, "modules": sorted(sys.modules)}))
"""
WORLD = (
    "asyncio",
    "stagec.ir.catalogue",
    "stagec.runtime.world.models.model_world",
    "stagec.runtime.world.stage_world",
)
"""What runs load only where something in them asks for it: an event loop, models, and what executes stages."""
RUNS = (
    "stagec.change.comparison.compare",
    "stagec.runtime.drivers.local",
    "stagec.views.picture.layout",
    "stagec.runtime.machine",
    "stagec.runtime.world",
)
"""What JSON of drawings needs only where it compares plans or shows a run, and what lays them out."""


def list_imported(folder: Path, *command: str) -> set[str]:
    """Execute a command in a fresh process and return the modules it imported."""
    ended = subprocess.run(
        [sys.executable, "-c", PROBE, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(TOP / "compiler")},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["status"] == 0, ended.stderr
    return set(told["modules"])


def test_a_clean_small_project_does_not_import_a_heavy_library(tmp_path: Path) -> None:
    step = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a"}
    registry = {"agentId": "a", "version": "1.0.0", "c1": "c", "entryStep": "initial.a", "steps": {"initial.a": step}}
    (tmp_path / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    assert list_imported(tmp_path, "validate", ".") & set(HEAVY) == set()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an example with its plan, and a scenario that answers at once."""
    folder = tmp_path_factory.mktemp("example") / "code-review"
    shutil.copytree(TOP / "registries" / "code-review", folder)
    scenario = (folder / "scenario.yaml").read_text(encoding="utf-8")
    (folder / "at-once.yaml").write_text(scenario.replace("pace: 300", "pace: 0"), encoding="utf-8")
    list_imported(folder, "compile", ".", "-o", "made.plan.json")
    return folder


@pytest.mark.parametrize("command", ["simulate", "run"])
def test_a_run_by_a_scenario_loads_no_other_world(example: Path, command: str) -> None:
    assert list_imported(example, command, "made.plan.json", "--scenario", "at-once.yaml") & set(WORLD) == set()


def test_a_drawing_of_a_project_loads_nothing_that_runs(example: Path) -> None:
    assert list_imported(example, "graph", "-o", "made.json") & set(RUNS) == set()


def test_whoever_verifies_a_plan_loads_nothing_that_reads_projects(example: Path) -> None:
    reading = {"stagec.sources.contract.promise", "stagec.sources.read", "stagec.check.pipeline"}
    assert list_imported(example, "verify", "made.plan.json") & reading == set()
