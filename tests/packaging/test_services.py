"""The GitHub action and the GitLab template: valid, and their scripts run where pip and the services are made up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from services import ACTION, TEMPLATE, TOP, Job, Runner, put_example, runner

__all__ = ["runner"]


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
