"""`stagec run` with tools of the user and of the plan: found again by `resume`, and never beyond the plan."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stagec.core.json import Json

STAGE = """---
id: %s
name: A stage
allowedTools: [look_up, count]
completionTool: submit
completionSchema: {type: object}
turnCap: 4
retryPolicy: {maxAttempts: 1, backoff: none}
resolutionPolicy: fail
---
Do it.
"""
PIPELINE = """
id: p
name: Two stages
version: 1.0.0
entry: write
stages: ["*.md"]
next: {write: check}
"""
CATALOGUE = """
discovered:
  - {name: look_up, effects: read, description: Look a page up., schema: look_up.json}
  - name: count
    effects: read
    command: [%s, -c, "import json, sys; print(json.dumps({'words': len(json.load(sys.stdin)['text'].split())}))"]
"""
SCHEMA = {"type": "object", "properties": {"page": {"type": "string"}}, "required": ["page"]}
MODULE = """
def look_up(page: str) -> str: return f"{page} is found"
def delete(page: str) -> str: open("deleted", "w").close()
"""
TURNS: Json = [
    {
        "calls": [
            {"tool": "look_up", "arguments": {"page": "a"}},
            {"tool": "look_up", "arguments": {"page": 1}},
            {"tool": "count", "arguments": {"text": "one two"}},
            {"tool": "delete", "arguments": {"page": "a"}},
        ]
    },
    {"complete": {}},
]


def _stagec(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "stagec", *words)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ})


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("project")
    for each in ("write", "check"):
        (tmp_path / f"{each}.md").write_text(STAGE % each)
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    (tmp_path / "tools.yaml").write_text(CATALOGUE % json.dumps(sys.executable))
    (tmp_path / "look_up.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "half.json").write_text(json.dumps({"conversations": {"write": TURNS}}))
    (tmp_path / "whole.json").write_text(json.dumps({"conversations": {"write": TURNS, "check": TURNS}}))
    (tmp_path / "mine.py").write_text(MODULE)
    told = _stagec(tmp_path, "compile", "pipeline.yaml", "-o", "plan.json")
    assert told.returncode == 0, told.stdout + told.stderr
    return tmp_path


@pytest.fixture
def project(compiled: Path, tmp_path: Path) -> Path:
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _check(told: subprocess.CompletedProcess[str], project: Path) -> None:
    events = [json.loads(line) for line in told.stdout.splitlines()]
    begun = ("ToolInvocationSucceeded", "ToolInvocationFailed", "ToolCallDenied")
    found = sorted((each["proposalId"], each["event"]) for each in events if each["event"] in begun)
    assert found == [("0.0", begun[0]), ("0.1", begun[1]), ("0.2", begun[0]), ("0.3", begun[2])]
    assert "do not satisfy the schema" in told.stdout
    assert not (project / "deleted").exists()


def _run_and_resume(project: Path, *words: str) -> None:
    run = ("run", "plan.json", "--run", "one", "--scenario", "half.json", "--events", "jsonl", *words)
    first = _stagec(project, *run)
    assert first.returncode == 2, first.stderr
    _check(first, project)
    state = _stagec(project, "runs", "export", "one").stdout
    assert "a is found" in state
    assert "words" in state
    again = _stagec(project, "resume", "one", "--scenario", "whole.json", "--events", "jsonl")
    assert again.returncode == 0, again.stderr
    _check(again, project)


def test_functions_and_commands_of_a_plan_answer_beside_a_scenario_and_resume_finds_them(project: Path) -> None:
    _run_and_resume(project, "--tools", "mine")


def test_a_configuration_names_a_program_and_resume_finds_it(project: Path) -> None:
    command = [sys.executable, "-c", "import json, sys; print(json.load(sys.stdin)['page'], 'is found')"]
    (project / "stagec.toml").write_text(f"[tools]\nlook_up = {json.dumps(command)}\n")
    _run_and_resume(project)


def test_a_plan_shows_what_its_tools_run(project: Path) -> None:
    assert "import json, sys; print(json.dumps" in _stagec(project, "plan", "plan.json").stdout


def test_a_module_that_is_not_there_begins_no_run(project: Path) -> None:
    told = _stagec(project, "run", "plan.json", "--tools", "nowhere", "--scenario", "half.json")
    assert told.returncode == 2
    assert "--tools 'nowhere' cannot be used: ModuleNotFoundError" in told.stderr
    assert not (project / ".stagec").exists()
