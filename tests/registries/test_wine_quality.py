"""The example of a stage plan: its data can be made again, and its stages do what they say with nothing but Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / "registries" / "wine-quality"
PLAN: dict[str, Any] = yaml.safe_load((EXAMPLE / "plan.yaml").read_text(encoding="utf-8"))
REPORT = """\
# Quality of wines

794 of 800 wines can be used. Set aside: 1 because alcohol is no number, 1 because alcohol is out of range, \
1 because density is out of range, 1 because ph is missing, 1 because ph is out of range, \
1 because volatile_acidity is missing.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "wine-quality"
    shutil.copytree(EXAMPLE, made, ignore=shutil.ignore_patterns("__pycache__"))
    return made


def perform(project: Path, stage: dict[str, Any], run: Path) -> str:
    """Execute a stage as a run does, with paths of inputs from the project and from other stages."""
    produced = {each["stageId"] for each in PLAN["stages"]}
    inputs = {
        name: str((run if path.partition("/")[0] in produced else project) / path)
        for name, path in stage["inputs"].items()
    }
    folder = run / stage["stageId"]
    folder.mkdir(parents=True)
    outputs = {name: str(folder / path) for name, path in stage["outputs"].items()}
    around = {
        "PATH": os.environ["PATH"],
        "WINE_PAUSE": "0",
        "STAGEC_STAGE_ID": stage["stageId"],
        "STAGEC_INPUTS": json.dumps(inputs),
        "STAGEC_OUTPUTS": json.dumps(outputs),
        "STAGEC_IDEMPOTENCY_KEY": f"one/{stage['stageId']}",
    }
    argv = [sys.executable, *stage["run"][1:]]
    ended = subprocess.run(argv, cwd=project, env=around, capture_output=True, text=True, check=True)
    assert sorted(path.name for path in folder.iterdir()) == sorted(stage["outputs"].values())
    return ended.stdout


def test_the_data_can_be_made_again() -> None:
    argv = [sys.executable, str(EXAMPLE / "data" / "make_wine.py")]
    made = subprocess.run(argv, capture_output=True, check=True).stdout
    assert made == (EXAMPLE / "data" / "wine.csv").read_bytes()


def test_the_stages_find_out_about_wines(project: Path, tmp_path: Path) -> None:
    printed = {stage["stageId"]: perform(project, stage, tmp_path / "run") for stage in PLAN["stages"]}
    for stage, text in printed.items():
        last = text.splitlines()[-1]
        assert last.startswith(f"[STAGE:end:id={stage}:status=success:duration=")
    report = (tmp_path / "run" / "S07_generate_report" / "quality_report.md").read_text(encoding="utf-8")
    assert report.startswith(REPORT)
    assert report.endswith("The best model is: ridge.\n")
    metrics = json.loads((tmp_path / "run" / "S06_evaluate_models" / "test_metrics.json").read_bytes())
    assert metrics["errors"]["ridge"] < metrics["errors"]["neighbors"] < metrics["errors"]["always the mean"]
    (message,) = (project / "outbox" / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(message)["key"] == "one/S08_notify_team"
