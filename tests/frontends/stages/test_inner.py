"""Pipelines that run as stages: the plan of the whole, and its runs through the commands."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from stagec import Project, Settings, Severity, compile_project
from stagec.cli.app import run
from stagec.ir.plan import verify

OUTER = """id: outer
entry: plan
stages: [stages/*.md, {id: review, pipeline: review/pipeline.yaml, inputs: {what: ctx.task}}]
context: {task: {type: string}}
maxStageExecutions: 30
next:
  plan: review
  review: [{when: {parsed.approved: true}, stages: [done]}, {stages: [plan]}]
"""
REVIEW = """id: review
entry: scan
output: report
stages: [stages/*.md, {id: deep, pipeline: deep/pipeline.yaml, inputs: {subject: ctx.what}}]
context: {what: {type: string}}
maxParallel: 2
next:
  scan: {stages: [a, b], execution: parallel, join: deep}
  deep: report
"""
DEEP = """id: deep
entry: look
output: look
context: {subject: {type: string}}
"""
STAGES = {
    "stages/plan.md": "Plan {{ctx.task}}",
    "stages/done.md": "Was {{ctx.upstream[0].parsed.approved}}",
    "review/stages/scan.md": "Scan {{ctx.what}}",
    "review/stages/a.md": "A",
    "review/stages/b.md": "B",
    "review/stages/report.md": "Report {{ctx.upstream[0].parsed.approved}} of {{ctx.what}}",
    "review/deep/look.md": "Look at {{ctx.subject}}",
}
SCENARIO = """inputs: {task: TASK}
conversations:
  plan: [[{complete: {approved: true}}]]
  done: [[{complete: {approved: true}}]]
  review/scan: [[{complete: {approved: true}}]]
  review/a: [[{complete: {approved: true}}]]
  review/b: [[{complete: {approved: true}}]]
  review/deep/look: [[{complete: {approved: true}}]]
  review/report: [[{complete: {approved: false}}], [{complete: {approved: true}}]]
"""
ROUND = ["plan", "review/scan", "review/a", "review/b", "review/deep/look", "review/report"]


def _stage(name: str, body: str) -> str:
    return f"""---
id: {name}
name: {name}
allowedTools: []
completionTool: submit_{name}
completionSchema: {{type: object, required: [approved], properties: {{approved: {{type: boolean}}}}}}
retryPolicy: {{maxAttempts: 1, backoff: none}}
turnCap: 3
resolutionPolicy: fail
---
{body}, then call `submit_{name}`.
"""


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """Return the file of a pipeline with a pipeline in it, in which there is another one."""
    files = {"pipeline.yaml": OUTER, "review/pipeline.yaml": REVIEW, "review/deep/pipeline.yaml": DEEP}
    for file, text in files.items() | {(file, _stage(Path(file).stem, body)) for file, body in STAGES.items()}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path / "pipeline.yaml"


def _run(*args: object) -> int:
    return run([str(each) for each in args])


def test_a_run_passes_the_stages_of_inner_pipelines_and_is_replayed(
    outer: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan, runs, scenario = tmp_path / "plan.json", tmp_path / "runs", tmp_path / "scenario.yaml"
    scenario.write_text(SCENARIO)
    assert _run("compile", outer, "-o", plan) == 0
    written = verify(plan.read_bytes()).plan
    assert {*written.nodes} == {*ROUND, "done"}
    assert (written.limits.parallel, [*written.inputs]) == (2, ["task"])
    assert _run("verify", plan) == 0
    assert _run("run", plan, "--scenario", scenario, "--runs", runs) == 0
    journal = next(runs.glob("*.run"))
    before = journal.read_bytes()
    assert _run("resume", journal, "--scenario", scenario) == 0  # replays all events, and finds the run at its end
    assert journal.read_bytes().rstrip(b"\0") == before.rstrip(b"\0")  # room for more is cut off
    told = capfd.readouterr()
    assert "review/deep/look" in told.out


def test_tests_of_flows_name_the_inner_stages(outer: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = "".join(f"  {line}\n" for line in SCENARIO.splitlines())
    path = json.dumps([*ROUND, *ROUND, "done"])
    prompts = "{review/deep/look: Look at TASK, review/report: Report true of TASK}"
    tests = f"scenario:\n{body}tests:\n  twice:\n    expect: {{outcome: done, path: {path}, prompts: {prompts}}}\n"
    (outer.parent / "outer.flow-test.yaml").write_text(f"flow: outer\n{tests}")
    ended = _run("test", outer.parent)
    assert ended == 0, capfd.readouterr()


def test_a_pipeline_that_is_only_run_as_a_stage_is_no_flow(outer: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _run("validate", outer) == 0
    assert "1 flow with 7 nodes" in capfd.readouterr().out
    assert _run("validate", outer.parent) == 0
    assert "3 flows" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("file", "old", "new", "code", "message"),
    [
        (
            "stages/report.md",
            "parsed.approved}}",
            "parsed.aproved}}",
            "STG704",
            "stage 'report' reads 'parsed.aproved'",
        ),
        ("pipeline.yaml", "execution: parallel, join: deep", "execution: parallel", "STG397", "runs may end at 'scan'"),
        ("stages/idle.md", "", _stage("idle", "Rest"), "STG603", "stage 'idle' is never reached"),
        ("pipeline.yaml", "join: deep}\n  deep: report", "join: report}", "STG603", "stage 'deep' is never reached"),
    ],
)
def test_a_mistake_inside_is_told_once_in_its_own_file(
    outer: Path, capfd: pytest.CaptureFixture[str], file: str, old: str, new: str, code: str, message: str
) -> None:
    wrong = outer.parent / "review" / file
    wrong.write_text(wrong.read_text().replace(old, new) if old else new)
    for asked in (outer, outer.parent):
        _run("validate", asked, "--format", "concise")
        found = [line for line in capfd.readouterr().out.splitlines() if "STG" in line and ": note[" not in line]
        assert len(found) == 1, found
        assert f"review/{file}" in found[0]
        assert f"[{code}]" in found[0]
    assert message in found[0]
    assert _run("validate", outer, "--format", "concise", "--fail-on", "note") == 1  # the names of the whole


def test_an_output_that_is_a_pipeline_which_cannot_run_is_one_mistake(
    outer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    review, deep = (outer.parent / f"review/{each}pipeline.yaml" for each in ("", "deep/"))
    review.write_text(review.read_text().replace("output: report", "output: deep").replace("  deep: report\n", ""))
    deep.write_text(deep.read_text().replace("output: look\n", ""))
    assert _run("validate", outer, "--format", "concise") == 1
    (error,) = (line for line in capfd.readouterr().out.splitlines() if ": error[" in line)
    assert "pipeline 'deep' cannot run as stage 'deep': it declares no 'output'" in error


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("output: report", "output: [report]"),
        ("context: {what: {type: string}}", "context: what"),
        ("{what: {type: string}}", "{what: {type: text}}"),
        ("execution: parallel", "execution: together"),
    ],
)
def test_what_is_misshapen_inside_is_no_second_mistake_around_it(
    outer: Path, capfd: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    review = outer.parent / "review/pipeline.yaml"
    review.write_text(review.read_text().replace(old, new))
    assert _run("validate", outer, "--format", "concise") == 1
    errors = [line for line in capfd.readouterr().out.splitlines() if ": error[" in line]
    assert len(errors) == 1, errors


def test_what_is_wrong_with_an_inner_pipeline_keeps_the_outer_one_from_its_plan(
    outer: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    inner = outer.parent / "review/pipeline.yaml"
    inner.write_text(inner.read_text().replace("maxParallel: 2", "maxParallel: two"))
    assert _run("compile", outer.parent, "--flow", "outer", "-o", tmp_path / "plan.json") == 1
    assert "flow 'outer' is not compiled: 1 error" in capfd.readouterr().err
    assert not (tmp_path / "plan.json").exists()


@pytest.mark.parametrize("file", [*STAGES, "review/pipeline.yaml", "review/deep/pipeline.yaml"])
@pytest.mark.parametrize("named", [".", "pipeline.yaml"])
def test_a_file_that_cannot_be_read_is_one_mistake_at_any_depth(
    named: str, file: str, outer: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outer.parent)
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace("id: ", "id: \0", 1), encoding="utf-8")
    assert _run("validate", named, "--format", "json") == 1
    errors = [each for each in json.loads(capfd.readouterr().out)["diagnostics"] if each["severity"] == "error"]
    assert {each["file"] for each in errors} == {file}
    assert _run("compile", named, "-o", "plans") == 1


def test_a_flow_from_which_no_run_completes_is_told_without_those_that_run_it(
    outer: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    review = outer.parent / "review" / "pipeline.yaml"
    for file in (outer, review, review.parent / "deep" / "pipeline.yaml"):
        file.write_text(file.read_text().replace("type: string", "enum: [x]"))
    review.write_text(review.read_text() + "gate: {scan: {block: {what: x}}}\n")
    assert _run("validate", outer.parent, "--format", "json") == 1
    errors = [each for each in json.loads(capfd.readouterr().out)["diagnostics"] if each["severity"] == "error"]
    assert [each["code"] for each in errors] == ["STG650"]
    assert errors[0]["message"].startswith("no run from 'scan' completes")


def _write_nested(folder: Path, levels: int, calls: int) -> None:
    """Write pipelines p0, p1, ...: each runs the next one as so many stages, the last one has a stage of its own."""
    for level in range(levels + 1):
        names = [f"s{each}" for each in range(calls if level < levels else 0)]
        inner = "".join(f", {{id: {name}, pipeline: ../p{level + 1}/pipeline.yaml, inputs: {{}}}}" for name in names)
        ways = ", ".join(f"{name}: {after}" for name, after in pairwise([*names, "end"]))
        text = f"entry: {[*names, 'end'][0]}\noutput: end\nstages: [end.md{inner}]\ncontext: {{}}\nnext: {{{ways}}}\n"
        (folder / f"p{level}").mkdir()
        (folder / f"p{level}/pipeline.yaml").write_text(text)
        (folder / f"p{level}/end.md").write_text(_stage("end", "End"))


TOO_DEEP = "stage 's0' is a pipeline: at most 16 pipelines run inside each other"
TOO_LARGE = "stage 's0' is a pipeline: with the stages of such pipelines, this one has more than 1,000"


@pytest.mark.parametrize(
    ("levels", "calls", "told"),
    [
        (16, 1, []),
        (18, 1, [f"p1/pipeline.yaml: {TOO_DEEP}"]),
        (400, 1, [f"p383/pipeline.yaml: {TOO_DEEP}"]),
        (8, 2, []),
        (10, 2, [f"p1/pipeline.yaml: {TOO_LARGE}"]),
    ],
)
def test_pipelines_in_each_other_have_bounds(tmp_path: Path, levels: int, calls: int, told: list[str]) -> None:
    _write_nested(tmp_path, levels, calls)
    found = compile_project(Project(tmp_path, (tmp_path / "p0/pipeline.yaml",), Settings())).diagnostics
    assert [f"{each.at.file}: {each.message}" for each in found if each.severity is Severity.ERROR] == told
