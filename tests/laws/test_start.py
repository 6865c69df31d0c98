"""A clean run on a small project pays for nothing it does not need."""

from __future__ import annotations

import json
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
    "stagec.rules.checkpoints",
    "stagec.rules.markers",
    "yaml",
    "tomllib",
)
PROBE = """
import json, sys
from stagec.cli.app import run
status = run(["validate", "."])
print(json.dumps({"status": status, "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Validate a registry of one step in a fresh process and return the modules it imported."""
    folder = tmp_path_factory.mktemp("small")
    step = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a"}
    registry = {"agentId": "a", "version": "1.0.0", "c1": "c", "entryStep": "initial.a", "steps": {"initial.a": step}}
    (folder / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", PROBE],
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


def test_a_clean_small_project_does_not_import_a_heavy_library(imported: set[str]) -> None:
    assert imported & set(HEAVY) == set()
