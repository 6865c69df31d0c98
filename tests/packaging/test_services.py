"""The GitHub action and the GitLab template: valid, and their scripts run where only pip and the services are made up.

`python3` is a program that makes an environment whose `pip` keeps its arguments, and whose `stagec` is the real one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).parents[2]
ACTION = TOP / ".github" / "actions" / "stagec" / "action.yml"
TEMPLATE = TOP / ".gitlab" / "stagec.gitlab-ci.yml"
PYTHON = """#!/bin/bash
if [[ $* == "-I -c "* ]]; then exec "$REAL" "$@"; fi
if [[ $1 != -I || $2 != -m || $3 != venv ]]; then exit 99; fi
mkdir -p "$4/bin"
printf '#!/bin/bash\\nprintf "%%s\\\\n" "$@" > "$KEPT"\\n' > "$4/bin/python"
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
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


# GitHub


class Job:
    """What came of the steps of the action; `steps` are the names of those that ran."""

    def __init__(self, runner: Runner, inputs: dict[str, str]) -> None:
        action = yaml.safe_load(ACTION.read_text())
        self.runner = runner
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
        assert condition in {None, uploads}
        return condition is None or (self.given["upload-sarif"] == "true" and self.outputs.get("sarif", "") != "")

    def _run(self, step: dict[str, Any]) -> None:
        if "uses" in step:
            return
        files = {name: self.runner.temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        variables = {name: self._evaluate(given) for name, given in step["env"].items()}
        around = {**{name: str(path) for name, path in files.items()}, "RUNNER_TEMP": str(self.runner.temporary)}
        shell = f"set -eo pipefail\n{step['run']}"  # as `shell: bash` does
        ended = self.runner.run("bash", shell, {**around, **variables})
        self.status, self.log = ended.returncode, self.log + ended.stdout + ended.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        if step.get("id") == "check":
            self.outputs = dict(line.split("=", 1) for line in lines)

    def _evaluate(self, given: str) -> str:
        kind, _, name = given.removeprefix("${{ ").removesuffix(" }}").rpartition(".")
        known = {
            "inputs": self.given,
            "steps.check.outputs": self.outputs,
            "github": {"action_path": str(ACTION.parent)},
        }
        return known[kind].get(name, "")


def put_example(work: Path, name: str, to: str = "agents") -> None:
    shutil.copytree(TOP / "registries" / name, work / to)


@pytest.mark.parametrize(("kind", "path"), [("github-actions", ACTION), ("gitlab-ci", TEMPLATE)])
def test_the_file_satisfies_the_schema_of_its_service(kind: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{kind}", str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_no_script_holds_an_expression_and_no_python_imports_from_the_project() -> None:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    scripts = [*(step.get("run", "") for step in steps), *yaml.safe_load(TEMPLATE.read_text())["stagec"]["script"]]
    for script in scripts:
        assert "${{" not in script
        assert script.count(" -m ") == script.count(" -I -m ")


def test_a_broken_project_fails_with_annotations_a_summary_and_a_report(runner: Runner) -> None:
    put_example(runner.work, "broken-on-purpose")
    job = Job(runner, {"upload-sarif": "true"})
    assert job.status == 1
    assert job.log.count("::error file=agents/") == 6
    assert job.summary.startswith("## stagec\n\nFound 6 errors in 4 files")
    listed = [line for line in job.summary.splitlines() if line.startswith("    agents/")]
    assert len(listed) == 6
    results = json.loads(Path(job.outputs["sarif"]).read_text())["runs"][0]["results"]
    assert len(results) == 6
    assert job.steps == ["Install stagec", "Check", "Upload to code scanning", "End as stagec did"]
    assert Path(runner.installed()).resolve() == TOP


def test_a_clean_project_passes_and_uploads_nothing_unless_it_is_asked(runner: Runner) -> None:
    put_example(runner.work, "docs-repair")
    job = Job(runner, {"version": "stagec @ git+https://git.example.org/stagec@v0.1.0"})
    assert (job.status, job.outputs["status"]) == (0, "0")
    assert "All clear: 1 flow with 3 nodes" in job.summary
    assert "Upload to code scanning" not in job.steps
    assert runner.installed() == "stagec @ git+https://git.example.org/stagec@v0.1.0"


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({"fail-on": "note", "paths": "wine"}, 1, "Found 2 notes"),
        ({"fail-on": "never", "paths": "bad\n\nwine\n"}, 0, "Found 6 errors"),
        ({"paths": "wine"}, 0, "Found 2 notes"),
        ({"paths": "no where"}, 2, "Nothing was checked (exit status 2)"),
        ({"paths": "--fix"}, 2, "Nothing was checked (exit status 2)"),
        ({"fail-on": "$(touch pwned)"}, 2, "Nothing was checked (exit status 2)"),
        ({"paths": "empty"}, 3, "Nothing was checked (exit status 3)"),
        ({"paths": "empty", "allow-empty": "true"}, 0, "All clear"),
        ({"paths": "`touch pwned`\n$(touch pwned)\n'; touch pwned; '\n*"}, 2, "Nothing was checked"),
    ],
)
def test_inputs_choose_what_is_checked_and_are_never_executed(
    runner: Runner, inputs: dict[str, str], status: int, told: str
) -> None:
    put_example(runner.work, "wine-quality", "wine")
    put_example(runner.work, "broken-on-purpose", "bad")
    (runner.work / "empty").mkdir()
    job = Job(runner, inputs)
    assert (job.status, job.outputs["status"]) == (status, str(status))
    assert told in job.summary
    assert not (runner.work / "pwned").exists()


def test_the_report_is_written_where_it_is_wanted_and_an_output_is_one_line(runner: Runner) -> None:
    put_example(runner.work, "docs-repair")
    assert Job(runner, {"sarif-file": "reports of mine.sarif"}).outputs["sarif"] == "reports of mine.sarif"
    assert (runner.work / "reports of mine.sarif").is_file()
    job = Job(runner, {"sarif-file": "a\nstatus=0"})
    assert (job.status, job.outputs) == (2, {})


def test_text_of_a_user_is_no_markdown_in_the_summary(runner: Runner) -> None:
    hostile = "](x) ``` <img src=x> **b**\\n# t"
    (runner.work / "steps_registry.json").write_text(f'{{"{hostile}": 1, "{hostile}": 2}}')
    job = Job(runner, {})
    assert job.status == 1
    shown = [line for line in job.summary.splitlines()[2:] if "<img" in line]
    assert shown != []
    assert [line for line in shown if not line.startswith("    ")] == []


def test_a_long_list_is_cut_in_the_summary(runner: Runner) -> None:
    for number in range(250):
        (runner.work / f"{number:03}").mkdir()
        (runner.work / f"{number:03}" / "steps_registry.json").write_text("{")
    job = Job(runner, {})
    assert sum(line.startswith("    ") for line in job.summary.splitlines()) == 200
    assert "\n50 more are in the log.\n" in job.summary


def test_an_old_python_is_told(runner: Runner, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/bash\nexit 1\n")
    old.chmod(0o755)
    job = Job(runner, {"python": str(old)})
    assert job.status == 2
    assert "stagec needs Python 3.11 or later" in job.log
    assert job.steps == ["Install stagec"]


# GitLab


def gitlab(runner: Runner, **variables: str) -> subprocess.CompletedProcess[str]:
    job = yaml.safe_load(TEMPLATE.read_text())["stagec"]
    return runner.run("sh", "\n".join(job["script"]), {**job["variables"], "STAGEC_VERSION": "stagec", **variables})


def test_a_merge_request_gets_both_reports(runner: Runner) -> None:
    put_example(runner.work, "broken-on-purpose", "my agents")
    ended = gitlab(runner, STAGEC_PATHS="my agents\n")
    assert ended.returncode == 1
    reports = yaml.safe_load(TEMPLATE.read_text())["stagec"]["artifacts"]["reports"]
    issues = json.loads((runner.work / reports["codequality"]).read_text())
    assert {issue["location"]["path"].split("/")[0] for issue in issues} == {"my agents"}
    assert (runner.work / reports["junit"]).read_text().count("<failure") == len(issues) == 6
    assert runner.installed() == "stagec"


@pytest.mark.parametrize(
    ("variables", "status"),
    [
        ({"STAGEC_OPTIONS": "--fail-on never"}, 0),
        ({"STAGEC_OPTIONS": "--fail-on never --strict"}, 0),
        ({"STAGEC_VERSION": ""}, 2),
        ({"STAGEC_OPTIONS": "$(touch pwned) `touch pwned` *"}, 2),
        ({"STAGEC_PATHS": "$(touch pwned)\n--fix"}, 2),
    ],
)
def test_variables_choose_and_are_never_executed(runner: Runner, variables: dict[str, str], status: int) -> None:
    put_example(runner.work, "broken-on-purpose")
    assert gitlab(runner, **variables).returncode == status
    assert not (runner.work / "pwned").exists()


# The page about them


def examples() -> list[tuple[str, str]]:
    page = (TOP / "docs" / "user-guide" / "ci.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml (\S+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


SCHEMAS = {".github": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}


@pytest.mark.parametrize(("name", "text"), examples(), ids=[name for name, _ in examples()])
def test_an_example_of_the_page_is_valid_and_names_what_there_is(name: str, text: str, tmp_path: Path) -> None:
    if name == ".pre-commit-config.yaml":
        known = {hook["id"] for hook in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())}
        assert {hook["id"] for hook in yaml.safe_load(text)["repos"][0]["hooks"]} <= known
        return
    path = tmp_path / "example.yml"
    path.write_text(text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name.partition("/")[0]], str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    used = [step for job in yaml.safe_load(text).get("jobs", {}).values() for step in job["steps"]]
    given = {name for step in used if "stagec" in step["uses"] for name in step.get("with", {})}
    assert given <= {*yaml.safe_load(ACTION.read_text())["inputs"]}


def test_the_page_explains_every_input_and_variable() -> None:
    page = (TOP / "docs" / "user-guide" / "ci.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    hooks = {hook["id"] for hook in yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())}
    inputs = {*yaml.safe_load(ACTION.read_text())["inputs"]}
    assert rows == hooks | inputs | {*yaml.safe_load(TEMPLATE.read_text())["stagec"]["variables"]}
