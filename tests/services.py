"""A runner of GitHub or GitLab: scripts of services run where only pip and the services are made up.

`python3` is a program that makes an environment whose `pip` keeps its arguments, and whose `stagec` is the real one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import programs
import pytest
import yaml

TOP = Path(__file__).parents[1]
ACTION = TOP / ".github" / "actions" / "stagec" / "action.yml"
TEMPLATE = TOP / ".gitlab" / "stagec.gitlab-ci.yml"
PYTHON = """#!/bin/bash
if [[ $* == "-I -c "* ]]; then exec "$REAL" "$@"; fi
if [[ $1 != -I || $2 != -m || $3 != venv ]]; then exit 99; fi
mkdir -p "$4/bin"
printf '#!/bin/bash\\nif [[ $2 == *.py ]]; then exec "$REAL" "$@"; fi\\n' > "$4/bin/python"
printf 'printf "%%s\\\\n" "$@" > "$KEPT"\\n' >> "$4/bin/python"
printf '#!/bin/bash\\nexec "$REAL" -m stagec "$@"\\n' > "$4/bin/stagec"
chmod +x "$4/bin/python" "$4/bin/stagec"
"""


class Runner:
    """One job of a service, in a workspace of its own."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temporary, self.programs = folder / "work", folder / "temporary files", folder / "programs"
        for each in (self.work / ".git", self.temporary, self.programs):
            each.mkdir(parents=True)
        python = self.programs / "python3"
        python.write_text(PYTHON)
        python.chmod(0o755)
        self.kept = folder / "pip"

    def run(self, shell: str, script: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        own = {"REAL": sys.executable, "KEPT": str(self.kept), "PYTHONPATH": str(TOP / "compiler")}
        path = f"{self.programs}:{os.environ['PATH']}"
        around = {**own, "PATH": path, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.temporary), **variables}
        return subprocess.run(
            [shell, "-c", script], cwd=self.work, env=around, capture_output=True, text=True, check=False
        )

    def installed(self) -> str:
        """Return what pip was asked to install."""
        return self.kept.read_text().splitlines()[-1]


@pytest.fixture
@programs.starts("bash", "sed")
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


# GitHub


class Job:
    """What came of the steps of the action; `steps` are the names of those that ran."""

    def __init__(self, runner: Runner, inputs: dict[str, str], event: dict[str, str] | None = None) -> None:
        action = yaml.safe_load(ACTION.read_text())
        self.runner, self.event = runner, event or {}
        self.reviewed: dict[str, str] = {}
        self.given = {name: each.get("default", "") for name, each in action["inputs"].items()} | inputs
        self.outputs: dict[str, str] = {}
        self.summary, self.log, self.steps = "", "", list[str]()
        self.status = 0
        for step in action["runs"]["steps"]:
            if not self.status and self._is_wanted(step.get("if")):
                self.steps.append(step["name"])
                self._run(step)

    def _is_wanted(self, condition: str | None) -> bool:
        uploads = "inputs.upload-sarif == 'true' && steps.check.outputs.sarif != ''"
        reviews = "inputs.review == 'true' && github.event_name == 'pull_request'"
        assert condition in {None, uploads, reviews}
        if condition == reviews:
            return self.given["review"] == "true" and "BASE" in self.event
        return condition is None or (self.given["upload-sarif"] == "true" and self.outputs.get("sarif", "") != "")

    def _run(self, step: dict[str, Any]) -> None:
        if "uses" in step:
            return
        files = {name: self.runner.temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        variables = {name: self._evaluate(given) for name, given in step["env"].items()} | self.event
        around = {**{name: str(path) for name, path in files.items()}, "RUNNER_TEMP": str(self.runner.temporary)}
        shell = f"set -eo pipefail\n{step['run']}"  # as `shell: bash` does
        ended = self.runner.run("bash", shell, {**around, **variables})
        self.status, self.log = ended.returncode, self.log + ended.stdout + ended.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        if step.get("id") == "check":
            self.outputs = dict(line.split("=", 1) for line in lines)
        if step.get("id") == "review":
            self.reviewed = dict(line.split("=", 1) for line in lines)

    def _evaluate(self, given: str) -> str:
        kind, _, name = given.removeprefix("${{ ").removesuffix(" }}").rpartition(".")
        known = {
            "inputs": self.given,
            "steps.check.outputs": self.outputs,
            "steps.review.outputs": self.reviewed,
            "github.event.pull_request.base": {},
            "github": {"action_path": str(ACTION.parent)},
        }
        return known[kind].get(name, "")


def put_example(work: Path, name: str, to: str = "agents") -> None:
    shutil.copytree(TOP / "registries" / name, work / to)
